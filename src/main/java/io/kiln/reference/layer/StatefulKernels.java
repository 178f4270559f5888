// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.layer;

import static io.kiln.reference.kernel.OperatorKernel.writing;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.arith.Int16Functions;
import io.kiln.ir.arith.TflSigmoid;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.Variables.CircularBuffer;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.op.call.Variables.RingWrite;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.UnaryKernels;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.OperatorKernel.Outcome;
import io.kiln.reference.kernel.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Variables, and layers with state. */
public final class StatefulKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            writing(RefWrite.class, (op, args, type) -> Outcome.of(List.of(args.get(1)))),
            writing(RingWrite.class, StatefulKernels::ringWrite),
            writing(CircularBuffer.class, StatefulKernels::circularBuffer),
            writing(Svdf.class, SvdfKernel::run),
            writing(Lstm.class, LstmKernel::run));

    private StatefulKernels() {}

    private static Outcome ringWrite(RingWrite op, List<Tensor> args, TensorType type) {
        Tensor slots = args.get(RingWrite.SLOTS);
        byte[] from = args.get(0).toBytes().toArray();
        byte[] to = slots.toBytes().toArray();
        int count = slots.shape().dim(op.axis());
        int added = args.get(0).shape().dim(op.axis());
        int outer = (int) new Shape(slots.shape().dims().subList(0, op.axis())).elements();
        int slot = to.length / outer / count;
        int oldest = Math.max(0, Math.min(args.get(RingWrite.PLACE).scalarInt(), count - added));
        for (int i = 0; i < outer; i++) {
            System.arraycopy(from, i * added * slot, to, (i * count + oldest) * slot, added * slot);
        }
        int next = oldest + added;
        return Outcome.of(List.of(
                Tensor.read(slots.type(), Bytes.wrap(to)),
                Tensor.of(args.get(RingWrite.PLACE).type(), new int[] {next >= count ? 0 : next})));
    }

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

    /** Long short-term memory, step by step; see {@link Lstm}. */
    private static final class LstmKernel {
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
                        int x = weighted(
                                g, Lstm.INPUT_WEIGHTS, u, args.get(0).ints(), position * inputs, biases.get(g)[u]);
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
                    result[position * units + u] = FixedPoint.clamp(
                            value, type.dtype().min(), type.dtype().max());
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
            return gate == CELL
                    ? TflSigmoid.tanh(sum, GATE_MULTIPLIER, 0)
                    : TflSigmoid.logistic(sum, GATE_MULTIPLIER, 0);
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

    /** A filter with a ring of features; see {@link Svdf}. */
    private static final class SvdfKernel {
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
                    result[b * units + u] = FixedPoint.clamp(
                            value, type.dtype().min(), type.dtype().max());
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
}
