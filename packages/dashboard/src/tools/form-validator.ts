import type {
  CustomValidator,
  ErrorSchema,
  RJSFSchema,
  RJSFValidationError,
  ValidationData,
  ValidatorType,
} from '@rjsf/utils';
import { toErrorList, toErrorSchema } from '@rjsf/utils';
import { faultsOf } from './check-value';

/** The form's checks by a validator that makes no code: the CSP refuses those that do. */
export const formValidator: ValidatorType = {
  validateFormData(value: unknown, schema: RJSFSchema, _custom?: CustomValidator): ValidationData<unknown> {
    const errors = faultsOf(schema as never, value).map(asFormError);
    return { errors, errorSchema: toErrorSchema(errors) as ErrorSchema<unknown> };
  },
  isValid(schema: RJSFSchema, value: unknown, root: RJSFSchema): boolean {
    // Parts of a schema point into the whole of it.
    const whole = { ...(schema as object), definitions: root.definitions, $defs: root.$defs };
    try {
      return faultsOf(whole as never, value).length === 0;
    } catch {
      return false; // A part that cannot be read fits nothing.
    }
  },
  rawValidation<Result>(schema: RJSFSchema, value?: unknown) {
    return { errors: faultsOf(schema as never, value).map(asFormError) as Result[] };
  },
  reset() {
    // Nothing is kept.
  },
  ...({ toErrorList } as object),
};

function asFormError({ path, message }: { path: string; message: string }): RJSFValidationError {
  return { property: path === '' ? '.' : `.${path}`, message, stack: `${path || 'The whole'}: ${message}` };
}
