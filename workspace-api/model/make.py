"""Makes english.bin: one vector for each word piece, so that a text's vector is the mean of its pieces'.

Needs the packages of requirements.txt in a Python environment, and the network's package registry for nothing else.
The vectors are those that the sentence model all-MiniLM-L6-v2 (Apache-2.0) gives to each piece by itself, with their
256 main components, of which the first 128 are kept, and rarer pieces counting for more (Model2Vec).

Layout: "MCPWORDS", then uint32 pieces, dimensions, bytes of the pieces' text; the pieces, one a line; float32 scales,
one a piece; int8 vectors.
"""

import json
import struct
import tempfile
import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from model2vec.distill import distill

DIMENSIONS = 128

with tempfile.TemporaryDirectory() as folder:
    with zipfile.ZipFile(files("all_minilm_l6_v2") / "model.zip") as archive:
        archive.extractall(folder)
    model = distill(model_name=folder, pca_dims=256, device="cpu")
    vectors = np.asarray(model.embedding, dtype=np.float32)[:, :DIMENSIONS]
    vocabulary = json.loads(model.tokenizer.to_str())["model"]["vocab"]

pieces = "\n".join(sorted(vocabulary, key=vocabulary.get)).encode()
scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / 127
quantized = np.round(vectors / scales[:, None]).astype(np.int8)
pad = b"\n" * (-(8 + 12 + len(pieces)) % 4)
with open(Path(__file__).parent / "english.bin", "wb") as out:
    out.write(b"MCPWORDS" + struct.pack("<III", len(vectors), DIMENSIONS, len(pieces) + len(pad)))
    out.write(pieces + pad + scales.astype("<f4").tobytes() + quantized.tobytes())
