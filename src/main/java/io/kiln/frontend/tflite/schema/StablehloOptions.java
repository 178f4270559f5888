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

    /** The schema's {@code StablehloGatherOptions}: which dimensions of result, data and indices belong together. */
    public static final class StablehloGather {
        public static final OptionsType TYPE = new OptionsType(16);
        public static final Field.Vector OFFSET_DIMS = new Field.Vector(0, Long.BYTES);
        public static final Field.Vector COLLAPSED_SLICE_DIMS = new Field.Vector(1, Long.BYTES);
        public static final Field.Vector START_INDEX_MAP = new Field.Vector(2, Long.BYTES);
        public static final Field.Int64 INDEX_VECTOR_DIM = new Field.Int64(3);
        public static final Field.Vector SLICE_SIZES = new Field.Vector(4, Long.BYTES);

        private StablehloGather() {}
    }

    /** The schema's {@code StablehloScatterOptions}: the same for updates, and the subgraph that combines two elements. */
    public static final class StablehloScatter {
        public static final OptionsType TYPE = new OptionsType(7);
        public static final Field.Vector UPDATE_WINDOW_DIMS = new Field.Vector(1, Long.BYTES);
        public static final Field.Vector INSERTED_WINDOW_DIMS = new Field.Vector(2, Long.BYTES);
        public static final Field.Vector SCATTER_DIMS_TO_OPERAND_DIMS = new Field.Vector(3, Long.BYTES);
        public static final Field.Int64 INDEX_VECTOR_DIM = new Field.Int64(4);
        public static final Field.Int32 UPDATE_COMPUTATION_SUBGRAPH_INDEX = new Field.Int32(6);

        private StablehloScatter() {}
    }

    /** The schema's {@code StablehloReduceWindowOptions}; a missing list is one of its neutral elements. */
    public static final class StablehloReduceWindow {
        public static final OptionsType TYPE = new OptionsType(13);
        public static final Field.Vector WINDOW_DIMENSIONS = new Field.Vector(0, Long.BYTES);
        public static final Field.Vector WINDOW_STRIDES = new Field.Vector(1, Long.BYTES);
        public static final Field.Vector BASE_DILATIONS = new Field.Vector(2, Long.BYTES);
        public static final Field.Vector WINDOW_DILATIONS = new Field.Vector(3, Long.BYTES);
        public static final Field.Vector PADDING = new Field.Vector(4, Long.BYTES);
        public static final Field.Int32 BODY_SUBGRAPH_INDEX = new Field.Int32(5);

        private StablehloReduceWindow() {}
    }

    /** The schema's {@code ReduceWindowOptions}. */
    public static final class ReduceWindow {
        public static final OptionsType TYPE = new OptionsType(20);
        public static final Field.Int32 REDUCE_FUNCTION = new Field.Int32(0);

        private ReduceWindow() {}
    }

    /** The schema's {@code StablehloCaseOptions}. */
    public static final class StablehloCase {
        public static final OptionsType TYPE = new OptionsType(23);
        public static final Field.Vector BRANCH_SUBGRAPH_INDICES = new Field.Vector(0, Integer.BYTES);

        private StablehloCase() {}
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
