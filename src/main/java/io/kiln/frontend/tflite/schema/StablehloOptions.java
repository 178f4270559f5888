// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/**
 * The options tables of the schema's union {@code BuiltinOptions2}: for each its code there and the fields that Kiln reads. A class {@code X}
 * here is the schema's table {@code XOptions}.
 */
public final class StablehloOptions {
    private StablehloOptions() {}

    /** The schema's {@code StableHLOCompositeOptions}; attributes are for runtimes that replace the composite. */
    public static final class StableHLOComposite {
        public static final OptionsType TYPE = new OptionsType(21);
        public static final Field.Text NAME = new Field.Text(0);
        public static final Field.Int32 DECOMPOSITION_SUBGRAPH_INDEX = new Field.Int32(1);

        private StableHLOComposite() {}
    }

    /** The schema's {@code StablehloPadOptions}: for each dimension how many elements are added; negative ones are removed. */
    public static final class StablehloPad {
        public static final OptionsType TYPE = new OptionsType(10);
        public static final Field.Vector EDGE_PADDING_LOW = new Field.Vector(0, Long.BYTES);
        public static final Field.Vector EDGE_PADDING_HIGH = new Field.Vector(1, Long.BYTES);
        public static final Field.Vector INTERIOR_PADDING = new Field.Vector(2, Long.BYTES);

        private StablehloPad() {}
    }
}
