// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/**
 * The options tables of layers, pools and sums: for each its code in the schema's union {@code BuiltinOptions} and the fields that Kiln reads. A class
 * {@code X} here is the schema's table {@code XOptions}.
 */
public final class LayerOptions {
    private LayerOptions() {}

    /** The schema's {@code Conv2DOptions}. */
    public static final class Conv2D {
        public static final OptionsType TYPE = new OptionsType(1);
        public static final Field.UByte PADDING = new Field.UByte(0);
        public static final Field.Int32 STRIDE_W = new Field.Int32(1);
        public static final Field.Int32 STRIDE_H = new Field.Int32(2);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(3);
        public static final Field.Int32 DILATION_W_FACTOR = new Field.Int32(4, 1);
        public static final Field.Int32 DILATION_H_FACTOR = new Field.Int32(5, 1);

        private Conv2D() {}
    }

    /** The schema's {@code DepthwiseConv2DOptions}. */
    public static final class DepthwiseConv2D {
        public static final OptionsType TYPE = new OptionsType(2);
        public static final Field.UByte PADDING = new Field.UByte(0);
        public static final Field.Int32 STRIDE_W = new Field.Int32(1);
        public static final Field.Int32 STRIDE_H = new Field.Int32(2);
        public static final Field.Int32 DEPTH_MULTIPLIER = new Field.Int32(3);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(4);
        public static final Field.Int32 DILATION_W_FACTOR = new Field.Int32(5, 1);
        public static final Field.Int32 DILATION_H_FACTOR = new Field.Int32(6, 1);

        private DepthwiseConv2D() {}
    }

    /** The schema's {@code TransposeConvOptions}. */
    public static final class TransposeConv {
        public static final OptionsType TYPE = new OptionsType(49);
        public static final Field.UByte PADDING = new Field.UByte(0);
        public static final Field.Int32 STRIDE_W = new Field.Int32(1);
        public static final Field.Int32 STRIDE_H = new Field.Int32(2);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(3);

        private TransposeConv() {}
    }

    /** The schema's {@code Pool2DOptions}. */
    public static final class Pool2D {
        public static final OptionsType TYPE = new OptionsType(5);
        public static final Field.UByte PADDING = new Field.UByte(0);
        public static final Field.Int32 STRIDE_W = new Field.Int32(1);
        public static final Field.Int32 STRIDE_H = new Field.Int32(2);
        public static final Field.Int32 FILTER_WIDTH = new Field.Int32(3);
        public static final Field.Int32 FILTER_HEIGHT = new Field.Int32(4);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(5);

        private Pool2D() {}
    }

    /** The schema's {@code FullyConnectedOptions}. */
    public static final class FullyConnected {
        public static final OptionsType TYPE = new OptionsType(8);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
        public static final Field.UByte WEIGHTS_FORMAT = new Field.UByte(1);
        public static final Field.Bool KEEP_NUM_DIMS = new Field.Bool(2);
        public static final Field.Bool ASYMMETRIC_QUANTIZE_INPUTS = new Field.Bool(3);

        private FullyConnected() {}
    }

    /** The schema's {@code SVDFOptions}. */
    public static final class SVDF {
        public static final OptionsType TYPE = new OptionsType(6);
        public static final Field.Int32 RANK = new Field.Int32(0);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(1);

        private SVDF() {}
    }

    /** The schema's {@code UnidirectionalSequenceLSTMOptions}. */
    public static final class UnidirectionalSequenceLSTM {
        public static final OptionsType TYPE = new OptionsType(71);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);
        public static final Field.Real CELL_CLIP = new Field.Real(1);
        public static final Field.Bool TIME_MAJOR = new Field.Bool(3);
        public static final Field.Bool DIAGONAL_RECURRENT_TENSORS = new Field.Bool(5);

        private UnidirectionalSequenceLSTM() {}
    }

    /** The schema's {@code SoftmaxOptions}. */
    public static final class Softmax {
        public static final OptionsType TYPE = new OptionsType(9);
        public static final Field.Real BETA = new Field.Real(0);

        private Softmax() {}
    }

    /** The schema's {@code L2NormOptions}. */
    public static final class L2Norm {
        public static final OptionsType TYPE = new OptionsType(12);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(0);

        private L2Norm() {}
    }

    /** The schema's {@code ReducerOptions}. */
    public static final class Reducer {
        public static final OptionsType TYPE = new OptionsType(27);
        public static final Field.Bool KEEP_DIMS = new Field.Bool(0);

        private Reducer() {}
    }

    /** The schema's {@code BatchMatMulOptions}. */
    public static final class BatchMatMul {
        public static final OptionsType TYPE = new OptionsType(101);
        public static final Field.Bool ADJ_X = new Field.Bool(0);
        public static final Field.Bool ADJ_Y = new Field.Bool(1);

        private BatchMatMul() {}
    }

    /** The schema's {@code CumsumOptions}. */
    public static final class Cumsum {
        public static final OptionsType TYPE = new OptionsType(102);
        public static final Field.Bool EXCLUSIVE = new Field.Bool(0);
        public static final Field.Bool REVERSE = new Field.Bool(1);

        private Cumsum() {}
    }
}
