// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;

/**
 * The options tables of the schema's union {@code BuiltinOptions2}: for each its code there and the fields that Kiln reads. A type {@code X}
 * here is the schema's table {@code XOptions}.
 */
public interface StablehloOptions {
    /** The schema's {@code StableHLOCompositeOptions}; attributes are for runtimes that replace the composite. */
    interface StableHLOComposite {
        OptionsType TYPE = new OptionsType(21);
        Field.Text NAME = new Field.Text(0);
        Field.Int32 DECOMPOSITION_SUBGRAPH_INDEX = new Field.Int32(1);
    }

    /** The schema's {@code StablehloGatherOptions}: which dimensions of result, data and indices belong together. */
    interface StablehloGather {
        OptionsType TYPE = new OptionsType(16);
        Field.Vector OFFSET_DIMS = new Field.Vector(0, Long.BYTES);
        Field.Vector COLLAPSED_SLICE_DIMS = new Field.Vector(1, Long.BYTES);
        Field.Vector START_INDEX_MAP = new Field.Vector(2, Long.BYTES);
        Field.Int64 INDEX_VECTOR_DIM = new Field.Int64(3);
        Field.Vector SLICE_SIZES = new Field.Vector(4, Long.BYTES);
    }

    /** The schema's {@code StablehloScatterOptions}: the same for updates, and the subgraph that combines two elements. */
    interface StablehloScatter {
        OptionsType TYPE = new OptionsType(7);
        Field.Vector UPDATE_WINDOW_DIMS = new Field.Vector(1, Long.BYTES);
        Field.Vector INSERTED_WINDOW_DIMS = new Field.Vector(2, Long.BYTES);
        Field.Vector SCATTER_DIMS_TO_OPERAND_DIMS = new Field.Vector(3, Long.BYTES);
        Field.Int64 INDEX_VECTOR_DIM = new Field.Int64(4);
        Field.Int32 UPDATE_COMPUTATION_SUBGRAPH_INDEX = new Field.Int32(6);
    }

    /** The schema's {@code StablehloReduceWindowOptions}; a missing list is one of its neutral elements. */
    interface StablehloReduceWindow {
        OptionsType TYPE = new OptionsType(13);
        Field.Vector WINDOW_DIMENSIONS = new Field.Vector(0, Long.BYTES);
        Field.Vector WINDOW_STRIDES = new Field.Vector(1, Long.BYTES);
        Field.Vector BASE_DILATIONS = new Field.Vector(2, Long.BYTES);
        Field.Vector WINDOW_DILATIONS = new Field.Vector(3, Long.BYTES);
        Field.Vector PADDING = new Field.Vector(4, Long.BYTES);
        Field.Int32 BODY_SUBGRAPH_INDEX = new Field.Int32(5);
    }

    interface ReduceWindow {
        OptionsType TYPE = new OptionsType(20);
        Field.Int32 REDUCE_FUNCTION = new Field.Int32(0);
    }

    interface StablehloCase {
        OptionsType TYPE = new OptionsType(23);
        Field.Vector BRANCH_SUBGRAPH_INDICES = new Field.Vector(0, Integer.BYTES);
    }

    /** The schema's {@code StablehloPadOptions}: for each dimension how many elements are added; negative ones are removed. */
    interface StablehloPad {
        OptionsType TYPE = new OptionsType(10);
        Field.Vector EDGE_PADDING_LOW = new Field.Vector(0, Long.BYTES);
        Field.Vector EDGE_PADDING_HIGH = new Field.Vector(1, Long.BYTES);
        Field.Vector INTERIOR_PADDING = new Field.Vector(2, Long.BYTES);
    }
}
