// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.signal;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.signal.SignalEnergy;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.op.signal.SignalWindow;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Tensor;
import java.util.List;
import java.util.Map;

/** Signal processing. */
public final class SignalKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(SignalWindow.class, SignalKernels::window),
            pure(SignalFft.class, FourierTransform::run),
            pure(SignalEnergy.class, SignalKernels::energy));

    private SignalKernels() {}

    private static Tensor window(SignalWindow op, List<Tensor> args, TensorType type) {
        int[] weights = args.get(1).ints();
        int[] result = args.get(0).ints().clone();
        for (int i = 0; i < result.length; i++) {
            result[i] = limited((result[i] * weights[i % weights.length]) >> op.shift());
        }
        return Tensor.of(type, result);
    }

    private static Tensor energy(SignalEnergy op, List<Tensor> args, TensorType type) {
        int[] spectrum = args.get(0).ints();
        int[] result = new int[spectrum.length / 2];
        for (int i = op.start(); i < op.end(); i++) {
            result[i] = spectrum[2 * i] * spectrum[2 * i] + spectrum[2 * i + 1] * spectrum[2 * i + 1];
        }
        return Tensor.of(type, result);
    }

    /** Limits a sample to int16. */
    static int limited(int value) {
        return FixedPoint.clamp(value, DType.INT16.min(), DType.INT16.max());
    }
}
