// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.TflSoftmax;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Gives softmax of int16 and LSTM of int8 the arithmetic of TensorFlow Lite's library, so that an image answers what the library answers for
 * the written model.
 */
public final class LibraryArithmetic {
    private LibraryArithmetic() {}

    /** The function with softmax tables in double precision, and LSTM in {@link Lstm.Arithmetic#LIBRARY}. */
    public static Function in(Function function) {
        Map<Integer, TensorType> types = function.types();
        List<Binding> bindings = function.bindings().stream()
                .map(binding -> converted(binding, types))
                .toList();
        return function.withBindings(bindings);
    }

    private static Binding converted(Binding binding, Map<Integer, TensorType> types) {
        if (binding.op() instanceof TflSoftmax softmax
                && types.get(binding.ref(0)).dtype() == DType.INT16) {
            return binding.with(new TflSoftmax(softmax.beta(), softmax.outDtype(), FloatPrecision.DOUBLE));
        }
        if (binding.op() instanceof Lstm lstm && types.get(binding.ref(0)).dtype() == DType.INT8) {
            return binding.with(lstm.in(Lstm.Arithmetic.LIBRARY));
        }
        return binding;
    }
}
