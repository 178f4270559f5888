// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.ir.op.Op;

/** Thrown out of an importer that emits an operator without an integer form; the node stays in floats. */
final class NoIntegers extends RuntimeException {
    private static final long serialVersionUID = 1;

    NoIntegers(Op op) {
        super(op.name(), null, false, false);
    }
}
