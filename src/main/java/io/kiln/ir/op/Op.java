// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/** An operator with its attributes. Argument order is stated by each operator. */
public sealed interface Op
        permits Conv2d,
                QnnConv2d,
                Conv2dTranspose,
                QnnConv2dTranspose,
                Dense,
                QnnDense,
                BiasAdd,
                TflRequantize,
                QnnRequantize,
                Clip,
                Elementwise,
                QnnAdd,
                AvgPool2d,
                MaxPool2d,
                Softmax,
                TflSoftmax,
                TflNormalize,
                QnnQuantize,
                QnnDequantize,
                Reshape,
                Copy,
                RefWrite,
                Svdf,
                Lstm,
                If,
                While,
                CircularBuffer,
                CustomCall,
                DetectionPostprocess,
                Signal,
                FilterBank,
                Movement,
                Take,
                TflDynamicUpdateSlice,
                Resize2d,
                Reduce,
                Accumulation,
                ArgReduce {

    /** Relay's name, or {@code tfl.*} for an operator of our own. */
    String name();

    /** Positions of the arguments that it changes; each is a variable of the function. Most operators change none. */
    default List<Integer> writes() {
        return List.of();
    }

    /** Whether only C of the user's knows what it computes: it can be neither interpreted nor computed at build time. */
    default boolean isOpaque() {
        return false;
    }

    /** Number of arguments. */
    int arity();

    /** Attributes by Relay's names, in Relay's order; values are Integer, Double, String or lists of these. Some operators have none. */
    default Map<String, Object> attributes() {
        return Map.of();
    }

    /**
     * The result's type.
     *
     * @throws IllegalArgumentException with a sentence for users if the arguments do not fit
     */
    TensorType infer(List<TensorType> args);
}
