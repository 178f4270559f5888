// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.base.DType;
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

        public int code() {
            return SchemaEnums.code(values(), this);
        }

        /** The padding of a code; empty if there is none. */
        public static Optional<Padding> of(int code) {
            return SchemaEnums.at(values(), code);
        }
    }

    /** Element types of the TFLite schema, in the order of its enum {@code TensorType}. */
    public enum TfliteType {
        FLOAT32(DType.FLOAT32),
        /** For constants only, which become float32. */
        FLOAT16(DType.FLOAT32),
        INT32(DType.INT32),
        UINT8(DType.UINT8),
        INT64(DType.INT64),
        STRING,
        BOOL(DType.BOOL),
        INT16(DType.INT16),
        COMPLEX64,
        INT8(DType.INT8),
        FLOAT64,
        COMPLEX128,
        UINT64(DType.UINT64),
        /** A handle of a variable. */
        RESOURCE(DType.INT32),
        VARIANT,
        UINT32(DType.UINT32),
        UINT16,
        /** For constants only, which become int8. */
        INT4(DType.INT8),
        BFLOAT16,
        /** For constants only, which become int8. */
        INT2(DType.INT8),
        /** For constants only, which become uint8. */
        UINT4(DType.UINT8),
        FLOAT8_E4M3FN,
        FLOAT8_E5M2;

        private final Optional<DType> dtype;

        TfliteType() {
            this.dtype = Optional.empty();
        }

        TfliteType(DType dtype) {
            this.dtype = Optional.of(dtype);
        }

        /** The type in the IR, if it has one. */
        public Optional<DType> dtype() {
            return dtype;
        }

        public int code() {
            return SchemaEnums.code(values(), this);
        }

        public static Optional<TfliteType> of(int code) {
            return code < values().length ? Optional.of(values()[code]) : Optional.empty();
        }
    }
}
