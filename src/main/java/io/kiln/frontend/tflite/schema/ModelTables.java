// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;

/** The tables of a model file, except for operators' options, each with the fields that Kiln reads. */
public interface ModelTables {
    /** The root of a file. */
    interface Model {
        Field.Int32 VERSION = new Field.Int32(0);
        Field.Vector OPERATOR_CODES = new Field.Vector(1);
        Field.Vector SUBGRAPHS = new Field.Vector(2);
        Field.Vector BUFFERS = new Field.Vector(4);
        Field.Vector METADATA = new Field.Vector(6);
        Field.Vector SIGNATURE_DEFS = new Field.Vector(7);
        Field.Vector EXTERNAL_BUFFER_GROUPS = new Field.Vector(8);
        Field.Vector EXTERNAL_BUFFERS = new Field.Vector(9);
    }

    /** What tools tell each other: a buffer with a name. */
    interface Metadata {
        Field.Text NAME = new Field.Text(0);
        Field.Int32 BUFFER = new Field.Int32(1);
    }

    /** A signature: the key under which programs call a subgraph. */
    interface SignatureDef {
        Field.Text SIGNATURE_KEY = new Field.Text(2);
        Field.Int32 SUBGRAPH_INDEX = new Field.Int32(4);
    }

    /** Tensors and operators, with the indices of the tensors that are inputs and outputs. */
    interface SubGraph {
        Field.Vector TENSORS = new Field.Vector(0);
        Field.Vector INPUTS = new Field.Vector(1);
        Field.Vector OUTPUTS = new Field.Vector(2);
        Field.Vector OPERATORS = new Field.Vector(3);
        Field.Text NAME = new Field.Text(4);
    }

    /** A tensor; {@code BUFFER} is an index into the buffers of the model, and {@code SHAPE_SIGNATURE} has -1 for open dimensions. */
    interface Tensor {
        Field.Vector SHAPE = new Field.Vector(0);
        Field.UByte TYPE = new Field.UByte(1);
        Field.Int32 BUFFER = new Field.Int32(2);
        Field.Text NAME = new Field.Text(3);
        Field.Table QUANTIZATION = new Field.Table(4);
        Field.Bool IS_VARIABLE = new Field.Bool(5);
        Field.Table SPARSITY = new Field.Table(6);
        Field.Vector SHAPE_SIGNATURE = new Field.Vector(7);
        Field.Int32 EXTERNAL_BUFFER = new Field.Int32(10);
    }

    /** Quantization of a tensor; {@code DETAILS_TYPE} is 0 for quantization by scales. */
    interface QuantizationParameters {
        Field.Vector SCALE = new Field.Vector(2);
        Field.Vector ZERO_POINT = new Field.Vector(3, Long.BYTES);
        Field.UByte DETAILS_TYPE = new Field.UByte(4);
        Field.Table DETAILS = new Field.Table(5);
        Field.Int32 QUANTIZED_DIMENSION = new Field.Int32(6);
    }

    /** How a constant's elements that are not 0 are stored; levels are listed in {@code TRAVERSAL_ORDER}. */
    interface SparsityParameters {
        Field.Vector TRAVERSAL_ORDER = new Field.Vector(0);
        Field.Vector BLOCK_MAP = new Field.Vector(1);
        Field.Vector DIM_METADATA = new Field.Vector(2);
    }

    /** A level of a sparse constant: all indices, or those that are listed for each index of the level before. */
    interface DimensionMetadata {
        Field.UByte FORMAT = new Field.UByte(0);
        Field.Int32 DENSE_SIZE = new Field.Int32(1);
        Field.UByte ARRAY_SEGMENTS_TYPE = new Field.UByte(2);
        Field.Table ARRAY_SEGMENTS = new Field.Table(3);
        Field.UByte ARRAY_INDICES_TYPE = new Field.UByte(4);
        Field.Table ARRAY_INDICES = new Field.Table(5);
    }

    /** The operator of an index in {@link Operator}. */
    interface OperatorCode {
        Field.UByte DEPRECATED_BUILTIN_CODE = new Field.UByte(0);
        Field.Text CUSTOM_CODE = new Field.Text(1);
        Field.Int32 VERSION = new Field.Int32(2, 1);
        Field.Int32 BUILTIN_CODE = new Field.Int32(3);
    }

    /** A call of an operator: indices of its tensors, and one of the options tables. */
    interface Operator {
        Field.Int32 OPCODE_INDEX = new Field.Int32(0);
        Field.Vector INPUTS = new Field.Vector(1);
        Field.Vector OUTPUTS = new Field.Vector(2);
        Field.UByte BUILTIN_OPTIONS_TYPE = new Field.UByte(3);
        Field.Table BUILTIN_OPTIONS = new Field.Table(4);
        Field.Vector CUSTOM_OPTIONS = new Field.Vector(5, Byte.BYTES);
        Field.Vector INTERMEDIATES = new Field.Vector(8);
        Field.UByte BUILTIN_OPTIONS_2_TYPE = new Field.UByte(11);
        Field.Table BUILTIN_OPTIONS_2 = new Field.Table(12);
    }

    /** Data of a constant: in the table, or at an offset from the start of the file. */
    interface Buffer {
        Field.Vector DATA = new Field.Vector(0, Byte.BYTES);
        Field.Int64 OFFSET = new Field.Int64(1);
        Field.Int64 SIZE = new Field.Int64(2);
    }

    /** The schema's table {@code BlockwiseQuantization}: a scale for each block of a row; scales and zero points are tensors, by their indices. */
    interface BlockwiseQuantization {
        /** Its code in the schema's union {@code QuantizationDetails}. */
        int CODE = 2;

        Field.Int32 SCALES = new Field.Int32(0);

        /** -1 if all are 0. */
        Field.Int32 ZERO_POINTS = new Field.Int32(1);

        Field.Int32 BLOCK_SIZE = new Field.Int32(2);
    }

    /** The schema's table {@code ExternalBuffer}: data of a constant in a file of a group, which has its name. */
    interface ExternalBuffer {
        /** Tensors refer to this number, not to the place in the list. */
        Field.Int32 ID = new Field.Int32(0);

        Field.Int32 GROUP = new Field.Int32(1);
        Field.Int64 OFFSET = new Field.Int64(2);
        Field.Int64 LENGTH = new Field.Int64(3);

        /** Name of a group's file: the only field of the schema's table {@code ExternalBufferGroup}. */
        Field.Text GROUP_NAME = new Field.Text(0);
    }
}
