// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.CircularBuffer;
import io.kiln.ir.op.call.RefWrite;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Variables, and layers with state. */
public final class StatefulKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            writing(RefWrite.class, (op, args, type) -> Outcome.of(List.of(args.get(1)))),
            writing(CircularBuffer.class, StatefulKernels::circularBuffer),
            writing(Svdf.class, StatefulKernels::svdf),
            writing(Lstm.class, LstmKernel::run));

    private StatefulKernels() {}

    private static Outcome circularBuffer(CircularBuffer op, List<Tensor> args, TensorType type) {
        int[] data = args.get(0).ints();
        int[] old = args.get(CircularBuffer.SLOTS).ints();
        int[] slots = Arrays.copyOfRange(old, data.length, old.length + data.length);
        System.arraycopy(data, 0, slots, old.length - data.length, data.length);
        int left = args.get(CircularBuffer.LEFT).scalarInt() - 1;
        boolean isOver = left <= 0;
        return new Outcome(
                Tensor.of(type, new int[] {isOver ? 1 : 0}),
                List.of(
                        Tensor.of(args.get(CircularBuffer.SLOTS).type(), slots),
                        Tensor.of(args.get(CircularBuffer.LEFT).type(), new int[] {isOver ? op.cycles() : left})));
    }

    private static Outcome svdf(Svdf op, List<Tensor> args, TensorType type) {
        int filters = args.get(1).shape().dim(0);
        int inputs = args.get(1).shape().dim(1);
        int memory = args.get(2).shape().dim(1);
        int batch = type.shape().dim(0);
        Tensor state = args.get(Svdf.STATE);
        return type.dtype().isFloat()
                ? realSvdf(op, args, type, new int[] {batch, filters, inputs, memory})
                : integerSvdf(
                        op,
                        args,
                        type,
                        new int[] {batch, filters, inputs, memory},
                        state.type().dtype());
    }

    private static Outcome integerSvdf(Svdf op, List<Tensor> args, TensorType type, int[] sizes, DType stateType) {
        int memory = sizes[3];
        int[] state = shifted(args.get(Svdf.STATE).ints());
        int[] data = args.get(0).ints();
        int[] features = args.get(1).ints();
        for (int i = 0; i < sizes[0] * sizes[1]; i++) {
            int sum = 0;
            for (int c = 0; c < sizes[2]; c++) {
                int value = data[i / sizes[1] * sizes[2] + c] - op.inputZeroPoint();
                sum += features[i % sizes[1] * sizes[2] + c] * value;
            }
            long feature = rescaled(sum, args, Svdf.STATE + 1) + (long) op.stateZeroPoint();
            state[(i + 1) * memory - 1] = FixedPoint.clamp(feature, stateType.min(), stateType.max());
        }
        int[] result = new int[(int) type.shape().elements()];
        int units = type.shape().dim(1);
        int[] times = args.get(2).ints();
        for (int i = 0; i < result.length; i++) {
            int sum = args.get(3).ints()[i % units];
            for (int k = 0; k < op.rank() * memory; k++) {
                sum += times[i % units * op.rank() * memory + k]
                        * (state[i * op.rank() * memory + k] - op.stateZeroPoint());
            }
            long value = rescaled(sum, args, Svdf.STATE + 3) + (long) op.outputZeroPoint();
            result[i] = FixedPoint.clamp(value, type.dtype().min(), type.dtype().max());
        }
        return new Outcome(
                Tensor.of(type, result), List.of(Tensor.of(args.get(Svdf.STATE).type(), state)));
    }

    private static int rescaled(int value, List<Tensor> args, int multiplier) {
        return FixedPoint.multiplyByQuantizedMultiplier(
                value,
                args.get(multiplier).scalarInt(),
                args.get(multiplier + 1).scalarInt());
    }

    /** Shifts everything towards the front by one; the last element stays. */
    private static int[] shifted(int[] state) {
        int[] moved = state.clone();
        System.arraycopy(state, 1, moved, 0, state.length - 1);
        return moved;
    }

    private static Outcome realSvdf(Svdf op, List<Tensor> args, TensorType type, int[] sizes) {
        int memory = sizes[3];
        float[] old = args.get(Svdf.STATE).floats();
        float[] state = old.clone();
        System.arraycopy(old, 1, state, 0, old.length - 1);
        for (int i = 0; i < sizes[0] * sizes[1]; i++) {
            float sum = 0;
            for (int c = 0; c < sizes[2]; c++) {
                sum += args.get(1).floats()[i % sizes[1] * sizes[2] + c]
                        * args.get(0).floats()[i / sizes[1] * sizes[2] + c];
            }
            state[(i + 1) * memory - 1] = sum;
        }
        float[] result = new float[(int) type.shape().elements()];
        int units = type.shape().dim(1);
        float[] times = args.get(2).floats();
        for (int i = 0; i < result.length; i++) {
            float sum = args.get(3).floats()[i % units];
            for (int k = 0; k < op.rank() * memory; k++) {
                sum += times[i % units * op.rank() * memory + k] * state[i * op.rank() * memory + k];
            }
            result[i] = sum;
        }
        return new Outcome(
                Tensor.of(type, result), List.of(Tensor.of(args.get(Svdf.STATE).type(), state)));
    }
}
