// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.List;

/** A filter with a ring of features; see {@link Svdf}. */
final class SvdfKernel {
    private final Svdf op;
    private final List<Tensor> args;
    private final TensorType type;
    private final int filters;
    private final int inputs;
    private final int memory;
    private final int units;
    private final int slot;

    private SvdfKernel(Svdf op, List<Tensor> args, TensorType type) {
        this.op = op;
        this.args = args;
        this.type = type;
        this.filters = args.get(1).shape().dim(0);
        this.inputs = args.get(1).shape().dim(1);
        this.memory = args.get(2).shape().dim(1);
        this.units = filters / op.rank();
        int named = args.get(Svdf.SLOT).ints()[0];
        this.slot = named >= 0 && named < memory ? named : 0;
    }

    static Outcome run(Svdf op, List<Tensor> args, TensorType type) {
        SvdfKernel kernel = new SvdfKernel(op, args, type);
        return type.dtype().isFloat() ? kernel.real() : kernel.integer();
    }

    private Outcome outcome(Tensor result, Tensor state) {
        Tensor next = Tensor.of(args.get(Svdf.SLOT).type(), new int[] {(slot + 1) % memory});
        return new Outcome(result, List.of(state, next));
    }

    /** Place in the state of the feature that a filter had {@code age} slots after the oldest. */
    private int place(int batch, int filter, int age) {
        int at = (slot + 1 + age) % memory;
        return ((batch * memory + at) * op.rank() + filter % op.rank()) * units + filter / op.rank();
    }

    private Outcome integer() {
        Tensor kept = args.get(Svdf.STATE);
        DType stateType = kept.type().dtype();
        int[] state = kept.ints().clone();
        int[] data = args.get(0).ints();
        int[] features = args.get(1).ints();
        int[] result = new int[(int) type.shape().elements()];
        for (int b = 0; b < result.length / units; b++) {
            for (int f = 0; f < filters; f++) {
                int sum = 0;
                for (int c = 0; c < inputs; c++) {
                    sum += features[f * inputs + c] * (data[b * inputs + c] - op.inputZeroPoint());
                }
                long feature = rescaled(sum, Svdf.FEATURE) + (long) op.stateZeroPoint();
                state[place(b, f, memory - 1)] = FixedPoint.clamp(feature, stateType.min(), stateType.max());
            }
            for (int u = 0; u < units; u++) {
                long value = rescaled(weighed(state, b, u), Svdf.RESULT) + (long) op.outputZeroPoint();
                result[b * units + u] =
                        FixedPoint.clamp(value, type.dtype().min(), type.dtype().max());
            }
        }
        return outcome(Tensor.of(type, result), Tensor.of(kept.type(), state));
    }

    private int weighed(int[] state, int batch, int unit) {
        int[] times = args.get(2).ints();
        int sum = args.get(3).ints()[unit];
        for (int f = unit * op.rank(); f < (unit + 1) * op.rank(); f++) {
            for (int age = 0; age < memory; age++) {
                sum += times[f * memory + age] * (state[place(batch, f, age)] - op.stateZeroPoint());
            }
        }
        return sum;
    }

    private int rescaled(int value, int multiplier) {
        return FixedPoint.multiplyByQuantizedMultiplier(
                value,
                args.get(multiplier).scalarInt(),
                args.get(multiplier + 1).scalarInt());
    }

    private Outcome real() {
        Tensor kept = args.get(Svdf.STATE);
        float[] state = kept.floats().clone();
        float[] data = args.get(0).floats();
        float[] features = args.get(1).floats();
        float[] times = args.get(2).floats();
        float[] result = new float[(int) type.shape().elements()];
        for (int b = 0; b < result.length / units; b++) {
            for (int f = 0; f < filters; f++) {
                float sum = 0;
                for (int c = 0; c < inputs; c++) {
                    sum += features[f * inputs + c] * data[b * inputs + c];
                }
                state[place(b, f, memory - 1)] = sum;
            }
            for (int u = 0; u < units; u++) {
                float sum = args.get(3).floats()[u];
                for (int k = 0; k < op.rank() * memory; k++) {
                    int f = u * op.rank() + k / memory;
                    sum += times[f * memory + k % memory] * state[place(b, f, k % memory)];
                }
                result[b * units + u] = sum;
            }
        }
        return outcome(Tensor.of(type, result), Tensor.of(kept.type(), state));
    }
}
