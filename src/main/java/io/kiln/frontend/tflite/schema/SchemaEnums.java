// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import java.util.List;
import java.util.Optional;

/** Finds constants of enums that are declared in the order of their codes in the schema. */
public final class SchemaEnums {
    private SchemaEnums() {}

    /** The constant of a code; empty if there is none. */
    private static <T> Optional<T> at(T[] values, int code) {
        return code >= 0 && code < values.length ? Optional.of(values[code]) : Optional.empty();
    }

    /** The code of a constant. */
    static <T> int code(T[] values, T constant) {
        return List.of(values).indexOf(constant);
    }

    /** Fused activation functions: the schema's enum {@code ActivationFunctionType}. */
    public enum FusedActivation {
        NONE,
        RELU,
        RELU_N1_TO_1,
        RELU6,
        TANH,
        SIGN_BIT;

        /** Its code in a file. */
        public int code() {
            return SchemaEnums.code(values(), this);
        }

        /** The activation of a code; empty if there is none. */
        public static Optional<FusedActivation> of(int code) {
            return SchemaEnums.at(values(), code);
        }
    }

    /** How MIRROR_PAD mirrors. */
    public enum MirrorPadMode {
        /** The element at the border is not repeated. */
        REFLECT,
        /** The element at the border is repeated. */
        SYMMETRIC;

        /** Its code in a file. */
        public int code() {
            return SchemaEnums.code(values(), this);
        }
    }

    /** Padding of windows. */
    public enum Padding {
        /** As many windows as elements, divided by the stride. */
        SAME,
        /** Only windows that lie inside the data. */
        VALID;

        /** Its code in a file. */
        public int code() {
            return SchemaEnums.code(values(), this);
        }

        /** The padding of a code; empty if there is none. */
        public static Optional<Padding> of(int code) {
            return SchemaEnums.at(values(), code);
        }
    }
}
