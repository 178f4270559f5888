// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.Int16Functions;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.UnaryKernels;
import io.kiln.reference.kernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Long short-term memory, step by step; see {@link Lstm}. */
final class LstmKernel {
    private static final int INPUT = 0;
    private static final int FORGET = 1;
    private static final int CELL = 2;
    private static final int OUTPUT = 3;

    /** Converts 12 fraction bits to steps of 1/12288. */
    private static final int GATE_MULTIPLIER = 3;

    private final Lstm op;
    private final List<Tensor> args;
    private final TensorType type;
    private final int batch;
    private final int steps;
    private final int inputs;
    private final int units;

    private LstmKernel(Lstm op, List<Tensor> args, TensorType type) {
        this.op = op;
        this.args = args;
        this.type = type;
        this.batch = op.batch(type.shape());
        this.steps = op.steps(type.shape());
        this.inputs = args.get(0).shape().dim(2);
        this.units = type.shape().dim(2);
    }

    static Outcome run(Lstm op, List<Tensor> args, TensorType type) {
        LstmKernel kernel = new LstmKernel(op, args, type);
        return type.dtype().isFloat() ? kernel.real() : kernel.integer();
    }

    /** One step of one sequence. */
    private interface Step {
        void run(int sequence, int position);
    }

    /** Runs all sequences, the steps of each in order. */
    private void forEachStep(Step step) {
        for (int b = 0; b < batch; b++) {
            for (int t = 0; t < steps; t++) {
                step.run(b, op.timeMajor() ? t * batch + b : b * steps + t);
            }
        }
    }

    private Outcome outcome(Tensor result, Tensor hidden, Tensor cell) {
        return new Outcome(result, List.of(hidden, cell));
    }

    private Outcome integer() {
        int[] result = new int[(int) type.shape().elements()];
        int[] hidden = args.get(Lstm.HIDDEN).ints().clone();
        int[] cell = args.get(Lstm.CELL).ints().clone();
        List<long[]> biases = new ArrayList<>();
        for (Tensor bias : args.subList(Lstm.BIASES, Lstm.HIDDEN)) {
            biases.add(
                    bias.longs().length > 0
                            ? bias.longs()
                            : Arrays.stream(bias.ints()).asLongStream().toArray());
        }
        forEachStep((b, position) -> {
            for (int u = 0; u < units; u++) {
                int[] gates = new int[Lstm.GATES];
                for (int g = 0; g < Lstm.GATES; g++) {
                    int x = weighted(g, Lstm.INPUT_WEIGHTS, u, args.get(0).ints(), position * inputs, biases.get(g)[u]);
                    int h = weighted(g, Lstm.RECURRENT_WEIGHTS, u, hidden, b * units, 0);
                    gates[g] = gate(g, saturated(saturated(x) + (long) (isLibrary() ? h : saturated(h))));
                }
                int c = b * units + u;
                int kept = kept(gates[FORGET] * cell[c]);
                int added = added(gates[INPUT] * gates[CELL]);
                cell[c] = clipped(saturated(kept + (long) added));
                int tanh = isLibrary()
                        ? Int16Functions.tanh(cell[c], op.cellIntegerBits())
                        : TflSigmoid.tanh(cell[c], op.tanhMultiplier(), op.tanhShift());
                long value = rescaled(tanh * gates[OUTPUT], 2 * Lstm.GATES + 2) + (long) op.hiddenZeroPoint();
                result[position * units + u] =
                        FixedPoint.clamp(value, type.dtype().min(), type.dtype().max());
            }
            System.arraycopy(result, position * units, hidden, b * units, units);
        });
        return outcome(
                Tensor.of(type, result),
                Tensor.of(args.get(Lstm.HIDDEN).type(), hidden),
                Tensor.of(args.get(Lstm.CELL).type(), cell));
    }

    private boolean isLibrary() {
        return op.arithmetic() == Lstm.Arithmetic.LIBRARY;
    }

    private int gate(int gate, int sum) {
        if (isLibrary()) {
            return gate == CELL ? Int16Functions.tanh(sum, Int16Functions.GATE_BITS) : Int16Functions.logistic(sum);
        }
        return gate == CELL ? TflSigmoid.tanh(sum, GATE_MULTIPLIER, 0) : TflSigmoid.logistic(sum, GATE_MULTIPLIER, 0);
    }

    private int kept(int product) {
        return isLibrary()
                ? FixedPoint.roundingDivideByPot(product, Lstm.FUNCTION_BITS)
                : saturated(rescaled(product, 2 * Lstm.GATES));
    }

    private int added(int product) {
        return isLibrary()
                ? FixedPoint.roundingDivideByPot(product, Lstm.FUNCTION_BITS + op.cellIntegerBits())
                : saturated(rescaled(product, 2 * Lstm.GATES + 1));
    }

    /** A sum of weights times values without their zero point, with 12 fraction bits. */
    private int weighted(int gate, int kind, int unit, int[] values, int from, long bias) {
        boolean recurrent = kind == Lstm.RECURRENT_WEIGHTS;
        int count = recurrent ? units : inputs;
        int zeroPoint = recurrent ? op.hiddenZeroPoint() : op.inputZeroPoint();
        int[] weights = args.get(kind + gate).ints();
        long sum = bias;
        for (int i = 0; i < count; i++) {
            sum += (long) weights[unit * count + i] * (values[from + i] - zeroPoint);
        }
        int by = recurrent ? Lstm.GATES + gate : gate;
        return type.dtype().bytes() == Byte.BYTES
                ? rescaled((int) sum, by)
                : FixedPoint.multiplyByQuantizedMultiplier(sum, multiplier(by), shift(by));
    }

    private int rescaled(int value, int by) {
        return FixedPoint.multiplyByQuantizedMultiplier(value, multiplier(by), shift(by));
    }

    private int multiplier(int by) {
        return args.get(Lstm.MULTIPLIERS).ints()[by];
    }

    private int shift(int by) {
        return args.get(Lstm.MULTIPLIERS + 1).ints()[by];
    }

    private static int saturated(long value) {
        return FixedPoint.clamp(value, Short.MIN_VALUE, Short.MAX_VALUE);
    }

    private int clipped(int value) {
        int limit = (int) op.cellClip();
        return limit > 0 ? FixedPoint.clamp(value, -limit, limit) : value;
    }

    /** NaN becomes the limit, as in TensorFlow Lite. */
    private static float clipped(float value, float limit) {
        float below = value < limit ? value : limit;
        return below > -limit ? below : -limit;
    }

    private Outcome real() {
        float[] result = new float[(int) type.shape().elements()];
        float[] hidden = args.get(Lstm.HIDDEN).floats().clone();
        float[] cell = args.get(Lstm.CELL).floats().clone();
        forEachStep((b, position) -> {
            for (int u = 0; u < units; u++) {
                float[] gates = new float[Lstm.GATES];
                for (int g = 0; g < Lstm.GATES; g++) {
                    float sum = args.get(Lstm.BIASES + g).floats()[u];
                    sum += dot(Lstm.INPUT_WEIGHTS + g, u, args.get(0).floats(), position * inputs, inputs);
                    sum += dot(Lstm.RECURRENT_WEIGHTS + g, u, hidden, b * units, units);
                    gates[g] = g == CELL ? (float) Math.tanh(sum) : UnaryKernels.sigmoid(sum);
                }
                int c = b * units + u;
                float updated = gates[FORGET] * cell[c] + gates[INPUT] * gates[CELL];
                float limit = op.cellClip();
                cell[c] = limit > 0 ? clipped(updated, limit) : updated;
                result[position * units + u] = (float) Math.tanh(cell[c]) * gates[OUTPUT];
            }
            System.arraycopy(result, position * units, hidden, b * units, units);
        });
        return outcome(
                Tensor.of(type, result),
                Tensor.of(args.get(Lstm.HIDDEN).type(), hidden),
                Tensor.of(args.get(Lstm.CELL).type(), cell));
    }

    private float dot(int argument, int unit, float[] values, int from, int count) {
        float[] weights = args.get(argument).floats();
        float sum = 0;
        for (int i = 0; i < count; i++) {
            sum += weights[unit * count + i] * values[from + i];
        }
        return sum;
    }
}
