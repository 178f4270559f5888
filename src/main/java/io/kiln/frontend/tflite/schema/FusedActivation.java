// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import java.util.Optional;

/** Fused activation functions: the schema's enum {@code ActivationFunctionType}, in the order of its codes. */
public enum FusedActivation {
    NONE(0),
    RELU(1),
    RELU_N1_TO_1(2),
    RELU6(3),
    TANH(4),
    SIGN_BIT(5);

    private final int code;

    FusedActivation(int code) {
        this.code = code;
    }

    /** Its code in a file. */
    public int code() {
        return code;
    }

    /** The activation of a code; empty if there is none. */
    public static Optional<FusedActivation> of(int code) {
        return SchemaEnums.at(values(), code);
    }
}
