// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.draw.RandomLayers;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Function;
import io.kiln.target.SpareRam;
import io.kiln.target.SpareRam.Reads;
import java.util.List;

/** What {@link RandomOperatorsInQemuTest} draws. */
enum RandomForm {
    ANY,
    /** Layers for which there is often no single high multiply. */
    HARD,
    HARD_ONNX_RUNTIME,
    /** Depthwise convolutions for which there is often no single high multiply. */
    HARD_DEPTHWISE,
    /** Dense layers of thousands of products. */
    DENSE,
    /** The same by kernels that add inputs to weights. */
    DENSE_CROSSED,
    FLOATS,
    /** Convolutions of float data, most of which have few products for each result, or groups. */
    GROUPED_FLOATS,
    /** Sums of int8 data. */
    BYTE_SUMS,
    /** Sums, differences and leaky ReLUs of int16 data, of which the first elements are the least and the largest. */
    SHORTS,
    /** Convolutions and dense layers of int16 data. */
    INT16,
    /** Depthwise convolutions of int16 data. */
    WIDE,
    /** Depthwise convolutions of int8 data, often with wide windows or several channels for one of the input. */
    DEPTHWISE,
    /** Transposed convolutions of int16 data. */
    TRANSPOSED_WIDE,
    /** Transposed convolutions of int8 and float data. */
    TRANSPOSED,
    /** Layers with windows that lie in the padding. */
    FAR_PADDED,
    /** Convolutions of 3x3 whose weights no small cache holds. */
    MANY_WEIGHTS,
    /** Depthwise convolutions and, row by row behind them, those of 1x1 whose weights no RAM to spare holds. */
    LARGE_SEPARABLE,
    FOUR_BITS,
    /** Dense layers with weights of four bits. */
    FOUR_BITS_DENSE,
    ONNX_RUNTIME,
    /** By kernels of which few meet listed values. */
    ONNX_RUNTIME_FEW,
    /** By vectors that are relative to the zero point, which is even then. */
    ONNX_RUNTIME_CENTRED;

    /** The function of a number. */
    Function function(long seed) {
        return switch (this) {
            case ANY -> RandomOperators.mixed(seed);
            case FLOATS -> RandomOperators.ofFloats(seed);
            case GROUPED_FLOATS -> RandomOperators.ofGroupedFloats(seed);
            case BYTE_SUMS -> RandomOperators.ofBytes(seed);
            case SHORTS -> RandomOperators.ofShorts(seed);
            case INT16 -> RandomLayers.ofInt16(seed);
            case WIDE -> RandomLayers.wide(seed);
            case DEPTHWISE -> RandomOperators.wideDepthwise(seed);
            case TRANSPOSED_WIDE -> RandomLayers.transposedWide(seed);
            case TRANSPOSED -> RandomLayers.transposed(seed);
            case FAR_PADDED -> RandomOperators.farPadded(seed);
            case MANY_WEIGHTS -> RandomOperators.ofManyWeights(seed);
            case LARGE_SEPARABLE -> RandomOperators.largeSeparable(seed);
            case DENSE, DENSE_CROSSED -> RandomOperators.dense(seed);
            case HARD -> RandomOperators.hard(seed);
            case HARD_DEPTHWISE -> RandomOperators.hardDepthwise(seed);
            case HARD_ONNX_RUNTIME -> RandomOperators.ofOnnxRuntime(RandomOperators.hard(seed));
            case FOUR_BITS -> RandomOperators.ofFourBits(RandomOperators.mixed(seed));
            case FOUR_BITS_DENSE -> RandomOperators.ofFourBits(RandomOperators.dense(seed));
            case ONNX_RUNTIME, ONNX_RUNTIME_FEW, ONNX_RUNTIME_CENTRED ->
                RandomOperators.ofOnnxRuntime(RandomOperators.mixed(seed));
        };
    }

    /** Whether some of its layers must run row by row. */
    boolean isByRows() {
        return this == LARGE_SEPARABLE;
    }

    /** What the board has to spare: so little for layers that run row by row that whole tensors take more. */
    SpareRam spare() {
        Reads waiting = new Reads(5, 16, 256);
        return isByRows() ? new SpareRam(4 << 10, 64 << 10, false, waiting, waiting) : SpareRam.NONE;
    }

    /** Whether it is of float data, some of which is to be infinite or not a number. */
    boolean isFloat() {
        return this == FLOATS || this == GROUPED_FLOATS;
    }

    /** Whether the inputs of a number hold values at the ends of their range. */
    boolean isExtreme(long seed) {
        return (isFloat() || this == SHORTS) && seed % 3 == 0;
    }

    /** Whether floats among the inputs of a number are of every kind, and some rows of them equal. */
    boolean isSpecial(long seed) {
        return seed % 3 == 1;
    }

    /** The corrections and forms that the kernels of what is drawn must have. */
    List<String> corrections() {
        return switch (this) {
            case ANY,
                    DENSE,
                    FLOATS,
                    GROUPED_FLOATS,
                    BYTE_SUMS,
                    SHORTS,
                    INT16,
                    WIDE,
                    DEPTHWISE,
                    TRANSPOSED_WIDE,
                    TRANSPOSED,
                    FAR_PADDED,
                    MANY_WEIGHTS,
                    LARGE_SEPARABLE,
                    FOUR_BITS,
                    FOUR_BITS_DENSE -> List.of();
            case DENSE_CROSSED -> List.of("_crossed", "_crossed_bytes", "_started", "_started_signed");
            case HARD -> List.of("_twice", "_signed");
            case HARD_DEPTHWISE -> List.of("_signed", "_bytes", "_line");
            case HARD_ONNX_RUNTIME -> List.of("_listed");
            case ONNX_RUNTIME -> List.of("_listed", "_odd", "_even");
            case ONNX_RUNTIME_FEW -> List.of("_odd", "_even");
            case ONNX_RUNTIME_CENTRED -> List.of("_odd");
        };
    }
}
