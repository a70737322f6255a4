/** In place of @rjsf/validator-ajv8, which the form library's own test registry alone would import. */
export default undefined;
