// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;

/**
 * The options tables of operators: for each its code in the schema's union {@code BuiltinOptions} and the fields that Kiln reads. A type
 * {@code X} here is the schema's table {@code XOptions}; it holds constants alone.
 */
public interface OperatorOptions {
    interface Conv2D {
        OptionsType TYPE = new OptionsType(1);
        Field.UByte PADDING = new Field.UByte(0);
        Field.Int32 STRIDE_W = new Field.Int32(1);
        Field.Int32 STRIDE_H = new Field.Int32(2);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(3);
        Field.Int32 DILATION_W_FACTOR = new Field.Int32(4, 1);
        Field.Int32 DILATION_H_FACTOR = new Field.Int32(5, 1);
    }

    interface DepthwiseConv2D {
        OptionsType TYPE = new OptionsType(2);
        Field.UByte PADDING = new Field.UByte(0);
        Field.Int32 STRIDE_W = new Field.Int32(1);
        Field.Int32 STRIDE_H = new Field.Int32(2);
        Field.Int32 DEPTH_MULTIPLIER = new Field.Int32(3);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(4);
        Field.Int32 DILATION_W_FACTOR = new Field.Int32(5, 1);
        Field.Int32 DILATION_H_FACTOR = new Field.Int32(6, 1);
    }

    interface TransposeConv {
        OptionsType TYPE = new OptionsType(49);
        Field.UByte PADDING = new Field.UByte(0);
        Field.Int32 STRIDE_W = new Field.Int32(1);
        Field.Int32 STRIDE_H = new Field.Int32(2);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(3);
    }

    interface Pool2D {
        OptionsType TYPE = new OptionsType(5);
        Field.UByte PADDING = new Field.UByte(0);
        Field.Int32 STRIDE_W = new Field.Int32(1);
        Field.Int32 STRIDE_H = new Field.Int32(2);
        Field.Int32 FILTER_WIDTH = new Field.Int32(3);
        Field.Int32 FILTER_HEIGHT = new Field.Int32(4);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(5);
    }

    interface FullyConnected {
        OptionsType TYPE = new OptionsType(8);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
        Field.UByte WEIGHTS_FORMAT = new Field.UByte(1);
        Field.Bool KEEP_NUM_DIMS = new Field.Bool(2);
        Field.Bool ASYMMETRIC_QUANTIZE_INPUTS = new Field.Bool(3);
    }

    interface SVDF {
        OptionsType TYPE = new OptionsType(6);
        Field.Int32 RANK = new Field.Int32(0);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(1);
    }

    interface UnidirectionalSequenceLSTM {
        OptionsType TYPE = new OptionsType(71);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
        Field.Real CELL_CLIP = new Field.Real(1);
        Field.Bool TIME_MAJOR = new Field.Bool(3);
        Field.Bool DIAGONAL_RECURRENT_TENSORS = new Field.Bool(5);
    }

    interface Softmax {
        OptionsType TYPE = new OptionsType(9);
        Field.Real BETA = new Field.Real(0);
    }

    interface L2Norm {
        OptionsType TYPE = new OptionsType(12);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
    }

    interface Reducer {
        OptionsType TYPE = new OptionsType(27);
        Field.Bool KEEP_DIMS = new Field.Bool(0);
    }

    interface BatchMatMul {
        OptionsType TYPE = new OptionsType(101);
        Field.Bool ADJ_X = new Field.Bool(0);
        Field.Bool ADJ_Y = new Field.Bool(1);
    }

    interface Cumsum {
        OptionsType TYPE = new OptionsType(102);
        Field.Bool EXCLUSIVE = new Field.Bool(0);
        Field.Bool REVERSE = new Field.Bool(1);
    }

    interface Add {
        OptionsType TYPE = new OptionsType(11);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
    }

    interface Sub {
        OptionsType TYPE = new OptionsType(28);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
    }

    interface Mul {
        OptionsType TYPE = new OptionsType(21);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
    }

    interface Div {
        OptionsType TYPE = new OptionsType(29);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
    }

    interface Bucketize {
        OptionsType TYPE = new OptionsType(115);
        Field.Vector BOUNDARIES = new Field.Vector(0);
    }

    interface Gelu {
        OptionsType TYPE = new OptionsType(116);
        Field.Bool APPROXIMATE = new Field.Bool(0);
    }

    interface LeakyRelu {
        OptionsType TYPE = new OptionsType(75);
        Field.Real ALPHA = new Field.Real(0);
    }

    interface Concatenation {
        OptionsType TYPE = new OptionsType(10);
        Field.Int32 AXIS = new Field.Int32(0);
        Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(1);
    }

    interface ReverseSequence {
        OptionsType TYPE = new OptionsType(87);
        Field.Int32 SEQ_DIM = new Field.Int32(0);
        Field.Int32 BATCH_DIM = new Field.Int32(1);
    }

    interface Pack {
        OptionsType TYPE = new OptionsType(59);
        Field.Int32 VALUES_COUNT = new Field.Int32(0);
        Field.Int32 AXIS = new Field.Int32(1);
    }

    interface Unpack {
        OptionsType TYPE = new OptionsType(64);
        Field.Int32 NUM = new Field.Int32(0);
        Field.Int32 AXIS = new Field.Int32(1);
    }

    interface Split {
        OptionsType TYPE = new OptionsType(35);
        Field.Int32 NUM_SPLITS = new Field.Int32(0);
    }

    interface Reshape {
        OptionsType TYPE = new OptionsType(17);
        Field.Vector NEW_SHAPE = new Field.Vector(0);
    }

    interface Squeeze {
        OptionsType TYPE = new OptionsType(30);
        Field.Vector SQUEEZE_DIMS = new Field.Vector(0);
    }

    interface StridedSlice {
        OptionsType TYPE = new OptionsType(32);
        Field.Int32 BEGIN_MASK = new Field.Int32(0);
        Field.Int32 END_MASK = new Field.Int32(1);
        Field.Int32 ELLIPSIS_MASK = new Field.Int32(2);
        Field.Int32 NEW_AXIS_MASK = new Field.Int32(3);
        Field.Int32 SHRINK_AXIS_MASK = new Field.Int32(4);
        Field.Bool OFFSET = new Field.Bool(5);
    }

    interface MirrorPad {
        OptionsType TYPE = new OptionsType(77);
        Field.UByte MODE = new Field.UByte(0);
    }

    interface SpaceToDepth {
        OptionsType TYPE = new OptionsType(19);
        Field.Int32 BLOCK_SIZE = new Field.Int32(0);
    }

    interface DepthToSpace {
        OptionsType TYPE = new OptionsType(94);
        Field.Int32 BLOCK_SIZE = new Field.Int32(0);
    }

    interface Gather {
        OptionsType TYPE = new OptionsType(23);
        Field.Int32 AXIS = new Field.Int32(0);
        Field.Int32 BATCH_DIMS = new Field.Int32(1);
    }

    interface ResizeBilinear {
        OptionsType TYPE = new OptionsType(15);
        Field.Bool ALIGN_CORNERS = new Field.Bool(2);
        Field.Bool HALF_PIXEL_CENTERS = new Field.Bool(3);
    }

    interface ResizeNearestNeighbor {
        OptionsType TYPE = new OptionsType(74);
        Field.Bool ALIGN_CORNERS = new Field.Bool(0);
        Field.Bool HALF_PIXEL_CENTERS = new Field.Bool(1);
    }

    interface If {
        OptionsType TYPE = new OptionsType(92);
        Field.Int32 THEN_SUBGRAPH_INDEX = new Field.Int32(0);
        Field.Int32 ELSE_SUBGRAPH_INDEX = new Field.Int32(1);
    }

    interface While {
        OptionsType TYPE = new OptionsType(93);
        Field.Int32 COND_SUBGRAPH_INDEX = new Field.Int32(0);
        Field.Int32 BODY_SUBGRAPH_INDEX = new Field.Int32(1);
    }

    interface CallOnce {
        OptionsType TYPE = new OptionsType(103);
        Field.Int32 INIT_SUBGRAPH_INDEX = new Field.Int32(0);
    }

    interface VarHandle {
        OptionsType TYPE = new OptionsType(111);
        Field.Text CONTAINER = new Field.Text(0);
        Field.Text SHARED_NAME = new Field.Text(1);
    }

    /**
     * A table of the union {@code BuiltinOptions}.
     *
     * @param code its number in the union; 0 for no table
     */
    record OptionsType(int code) {
        public static final OptionsType NONE = new OptionsType(0);
    }
}
