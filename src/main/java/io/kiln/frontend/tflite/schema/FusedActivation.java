// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import java.util.Optional;

/** Activation functions that operators have in them: the schema's enum {@code ActivationFunctionType}, in the order of its codes. */
public enum FusedActivation {
    NONE,
    RELU,
    RELU_N1_TO_1,
    RELU6,
    TANH,
    SIGN_BIT;

    /** The number that stands for it in a file. */
    public int code() {
        return ordinal();
    }

    /** The activation of a code; empty for none. */
    public static Optional<FusedActivation> of(int code) {
        return SchemaEnums.at(values(), code);
    }
}
