// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/**
 * The options tables of element-wise operators: for each its code in the schema's union {@code BuiltinOptions} and the fields that Kiln reads. A class
 * {@code X} here is the schema's table {@code XOptions}.
 */
public final class ElementwiseOptions {
    private ElementwiseOptions() {}

    /** The schema's {@code AddOptions}. */
    public static final class Add {
        public static final OptionsType TYPE = new OptionsType(11);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);

        private Add() {}
    }

    /** The schema's {@code SubOptions}. */
    public static final class Sub {
        public static final OptionsType TYPE = new OptionsType(28);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);

        private Sub() {}
    }

    /** The schema's {@code MulOptions}. */
    public static final class Mul {
        public static final OptionsType TYPE = new OptionsType(21);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);

        private Mul() {}
    }

    /** The schema's {@code DivOptions}. */
    public static final class Div {
        public static final OptionsType TYPE = new OptionsType(29);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);

        private Div() {}
    }

    /** The schema's {@code BucketizeOptions}. */
    public static final class Bucketize {
        public static final OptionsType TYPE = new OptionsType(115);
        public static final Field.Vector BOUNDARIES = new Field.Vector(0);

        private Bucketize() {}
    }

    /** The schema's {@code GeluOptions}. */
    public static final class Gelu {
        public static final OptionsType TYPE = new OptionsType(116);
        public static final Field.Bool APPROXIMATE = new Field.Bool(0);

        private Gelu() {}
    }

    /** The schema's {@code LeakyReluOptions}. */
    public static final class LeakyRelu {
        public static final OptionsType TYPE = new OptionsType(75);
        public static final Field.Real ALPHA = new Field.Real(0);

        private LeakyRelu() {}
    }
}
