// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/** The tables of a model file, except for operators' options, each with the fields that Kiln reads. */
public final class ModelTables {
    private ModelTables() {}

    /** The root of a file. */
    public static final class Model {
        public static final Field.Int32 VERSION = new Field.Int32(0);
        public static final Field.Vector OPERATOR_CODES = new Field.Vector(1);
        public static final Field.Vector SUBGRAPHS = new Field.Vector(2);
        public static final Field.Vector BUFFERS = new Field.Vector(4);
        public static final Field.Vector METADATA = new Field.Vector(6);
        public static final Field.Vector SIGNATURE_DEFS = new Field.Vector(7);
        public static final Field.Vector EXTERNAL_BUFFER_GROUPS = new Field.Vector(8);
        public static final Field.Vector EXTERNAL_BUFFERS = new Field.Vector(9);

        private Model() {}
    }

    /** What tools tell each other: a buffer with a name. */
    public static final class Metadata {
        public static final Field.Text NAME = new Field.Text(0);
        public static final Field.Int32 BUFFER = new Field.Int32(1);

        private Metadata() {}
    }

    /** A signature: the key under which programs call a subgraph. */
    public static final class SignatureDef {
        public static final Field.Text SIGNATURE_KEY = new Field.Text(2);
        public static final Field.Int32 SUBGRAPH_INDEX = new Field.Int32(4);

        private SignatureDef() {}
    }

    /** Tensors and operators, with the indices of the tensors that are inputs and outputs. */
    public static final class SubGraph {
        public static final Field.Vector TENSORS = new Field.Vector(0);
        public static final Field.Vector INPUTS = new Field.Vector(1);
        public static final Field.Vector OUTPUTS = new Field.Vector(2);
        public static final Field.Vector OPERATORS = new Field.Vector(3);
        public static final Field.Text NAME = new Field.Text(4);

        private SubGraph() {}
    }

    /** A tensor; {@code BUFFER} is an index into the buffers of the model, and {@code SHAPE_SIGNATURE} has -1 for open dimensions. */
    public static final class Tensor {
        public static final Field.Vector SHAPE = new Field.Vector(0);
        public static final Field.UByte TYPE = new Field.UByte(1);
        public static final Field.Int32 BUFFER = new Field.Int32(2);
        public static final Field.Text NAME = new Field.Text(3);
        public static final Field.Table QUANTIZATION = new Field.Table(4);
        public static final Field.Bool IS_VARIABLE = new Field.Bool(5);
        public static final Field.Table SPARSITY = new Field.Table(6);
        public static final Field.Vector SHAPE_SIGNATURE = new Field.Vector(7);
        public static final Field.Int32 EXTERNAL_BUFFER = new Field.Int32(10);

        private Tensor() {}
    }

    /** Quantization of a tensor; {@code DETAILS_TYPE} is 0 for quantization by scales. */
    public static final class QuantizationParameters {
        public static final Field.Vector SCALE = new Field.Vector(2);
        public static final Field.Vector ZERO_POINT = new Field.Vector(3, Long.BYTES);
        public static final Field.UByte DETAILS_TYPE = new Field.UByte(4);
        public static final Field.Table DETAILS = new Field.Table(5);
        public static final Field.Int32 QUANTIZED_DIMENSION = new Field.Int32(6);

        private QuantizationParameters() {}
    }

    /** How a constant's elements that are not 0 are stored; levels are listed in {@code TRAVERSAL_ORDER}. */
    public static final class SparsityParameters {
        public static final Field.Vector TRAVERSAL_ORDER = new Field.Vector(0);
        public static final Field.Vector BLOCK_MAP = new Field.Vector(1);
        public static final Field.Vector DIM_METADATA = new Field.Vector(2);

        private SparsityParameters() {}
    }

    /** A level of a sparse constant: all indices, or those that are listed for each index of the level before. */
    public static final class DimensionMetadata {
        public static final Field.UByte FORMAT = new Field.UByte(0);
        public static final Field.Int32 DENSE_SIZE = new Field.Int32(1);
        public static final Field.UByte ARRAY_SEGMENTS_TYPE = new Field.UByte(2);
        public static final Field.Table ARRAY_SEGMENTS = new Field.Table(3);
        public static final Field.UByte ARRAY_INDICES_TYPE = new Field.UByte(4);
        public static final Field.Table ARRAY_INDICES = new Field.Table(5);

        private DimensionMetadata() {}
    }

    /** The operator of an index in {@link Operator}. */
    public static final class OperatorCode {
        public static final Field.UByte DEPRECATED_BUILTIN_CODE = new Field.UByte(0);
        public static final Field.Text CUSTOM_CODE = new Field.Text(1);
        public static final Field.Int32 VERSION = new Field.Int32(2, 1);
        public static final Field.Int32 BUILTIN_CODE = new Field.Int32(3);

        private OperatorCode() {}
    }

    /** A call of an operator: indices of its tensors, and one of the options tables. */
    public static final class Operator {
        public static final Field.Int32 OPCODE_INDEX = new Field.Int32(0);
        public static final Field.Vector INPUTS = new Field.Vector(1);
        public static final Field.Vector OUTPUTS = new Field.Vector(2);
        public static final Field.UByte BUILTIN_OPTIONS_TYPE = new Field.UByte(3);
        public static final Field.Table BUILTIN_OPTIONS = new Field.Table(4);
        public static final Field.Vector CUSTOM_OPTIONS = new Field.Vector(5, Byte.BYTES);
        public static final Field.Vector INTERMEDIATES = new Field.Vector(8);
        public static final Field.UByte BUILTIN_OPTIONS_2_TYPE = new Field.UByte(11);
        public static final Field.Table BUILTIN_OPTIONS_2 = new Field.Table(12);

        private Operator() {}
    }

    /** Data of a constant: in the table, or at an offset from the start of the file. */
    public static final class Buffer {
        public static final Field.Vector DATA = new Field.Vector(0, Byte.BYTES);
        public static final Field.Int64 OFFSET = new Field.Int64(1);
        public static final Field.Int64 SIZE = new Field.Int64(2);

        private Buffer() {}
    }

    /** The schema's table {@code BlockwiseQuantization}: a scale for each block of a row; scales and zero points are tensors, by their indices. */
    public static final class BlockwiseQuantization {
        /** Its code in the schema's union {@code QuantizationDetails}. */
        public static final int CODE = 2;

        public static final Field.Int32 SCALES = new Field.Int32(0);

        /** -1 if all are 0. */
        public static final Field.Int32 ZERO_POINTS = new Field.Int32(1);

        public static final Field.Int32 BLOCK_SIZE = new Field.Int32(2);

        private BlockwiseQuantization() {}
    }

    /** The schema's table {@code ExternalBuffer}: data of a constant in a file of a group, which has its name. */
    public static final class ExternalBuffer {
        /** Tensors refer to this number, not to the place in the list. */
        public static final Field.Int32 ID = new Field.Int32(0);

        public static final Field.Int32 GROUP = new Field.Int32(1);
        public static final Field.Int64 OFFSET = new Field.Int64(2);
        public static final Field.Int64 LENGTH = new Field.Int64(3);

        /** Name of a group's file: the only field of the schema's table {@code ExternalBufferGroup}. */
        public static final Field.Text GROUP_NAME = new Field.Text(0);

        private ExternalBuffer() {}
    }
}
