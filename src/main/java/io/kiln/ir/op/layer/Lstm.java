// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A long short-term memory layer over whole sequences (lstm_eval.h of TensorFlow Lite Micro). For every step of every
 * sequence, with the gates input, forget, cell and output:
 *
 * <pre>
 * gate   = f(inputWeights * data + bias + recurrentWeights * hidden)      f: tanh for the cell gate, else the logistic function
 * cell   = clip(forget * cell + input * cellGate)
 * hidden = output * tanh(cell)                                            which is the step's result
 * </pre>
 *
 * <p>Arguments: data (batch, steps, inputs), or (steps, batch, inputs) if time comes first; four input weights (units,
 * inputs) and four recurrent weights (units, units), then four biases (units), each in the order above; the variables
 * hidden and cell, of batch * units elements; multipliers and shifts (int32 vectors of {@link #RESCALINGS}, ignored for
 * floats) of the sums of input weights, those of recurrent weights, {@code forget * cell}, {@code input * cellGate} and
 * {@code output * tanh(cell)}.
 *
 * <p>Types: all float32; or data and hidden int8 with int32 biases, or both int16 with int64 biases, the latter two
 * with int8 weights and an int16 cell. Sums become int16 with 12 fraction bits, each saturated, and are added with
 * saturation; the functions are {@link TflSigmoid16}.
 *
 * @param timeMajor whether the data's first dimension is time
 * @param inputZeroPoint zero point of the data
 * @param hiddenZeroPoint zero point of the hidden state and the result
 * @param tanhMultiplier multiplier of the cell as the argument of {@link TflSigmoid16}; 3 for floats
 * @param tanhShift its shift; 0 for floats
 * @param cellClip the cell's largest magnitude, in steps of its scale if it is quantized; 0 for no limit
 */
public record Lstm(
        boolean timeMajor, int inputZeroPoint, int hiddenZeroPoint, int tanhMultiplier, int tanhShift, float cellClip)
        implements Op {
    /** Number of gates, and of arguments of each kind. */
    public static final int GATES = 4;

    /** Position of the first input weights. */
    public static final int INPUT_WEIGHTS = 1;

    /** Position of the first recurrent weights. */
    public static final int RECURRENT_WEIGHTS = INPUT_WEIGHTS + GATES;

    /** Position of the first bias. */
    public static final int BIASES = RECURRENT_WEIGHTS + GATES;

    /** Position of the hidden state. */
    public static final int HIDDEN = BIASES + GATES;

    /** Position of the cell. */
    public static final int CELL = HIDDEN + 1;

    /** Position of the multipliers; the shifts follow. */
    public static final int MULTIPLIERS = CELL + 1;

    /** Number of rescalings. */
    public static final int RESCALINGS = 2 * GATES + 3;

    private static final int ARITY = MULTIPLIERS + 2;

    @Override
    public String name() {
        return "tfl.unidirectional_sequence_lstm";
    }

    @Override
    public int arity() {
        return ARITY;
    }

    @Override
    public List<Integer> writes() {
        return List.of(HIDDEN, CELL);
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "layout", timeMajor ? "TNC" : "NTC",
                "input_zero_point", inputZeroPoint,
                "hidden_zero_point", hiddenZeroPoint,
                "tanh_multiplier", tanhMultiplier,
                "tanh_shift", tanhShift,
                "cell_clip", (double) cellClip,
                "rounding", "TFLITE");
    }

    /** Number of sequences in data of a shape. */
    public int batch(Shape data) {
        return data.dim(timeMajor ? 1 : 0);
    }

    /** Number of steps in data of a shape. */
    public int steps(Shape data) {
        return data.dim(timeMajor ? 0 : 1);
    }

    @Override
    public Set<Trait> traits() {
        return Set.of();
    }

    @Override
    public List<Integer> weights() {
        return IntStream.range(INPUT_WEIGHTS, BIASES).boxed().toList();
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        Check.rank("data", data, 3);
        Check.rank("input weights", args.get(INPUT_WEIGHTS), 2);
        int units = args.get(INPUT_WEIGHTS).shape().dim(0);
        checkTypes(args);
        for (int gate = 0; gate < GATES; gate++) {
            shape(
                    "input weights",
                    args.get(INPUT_WEIGHTS + gate),
                    units,
                    data.shape().dim(2));
            shape("recurrent weights", args.get(RECURRENT_WEIGHTS + gate), units, units);
            shape("a bias", args.get(BIASES + gate), units);
        }
        long states = (long) batch(data.shape()) * units;
        for (int state : writes()) {
            Check.that(
                    args.get(state).shape().elements() == states,
                    "the state " + args.get(state).text() + " does not have batch * units = " + states + " elements");
        }
        new TflSigmoid16(TflSigmoid16.Kind.TANH, tanhMultiplier, tanhShift);
        return new TensorType(Shape.of(data.shape().dim(0), data.shape().dim(1), units), data.dtype());
    }

    private void checkTypes(List<TensorType> args) {
        DType data = args.get(0).dtype();
        Check.that(
                data == DType.FLOAT32 || data == DType.INT8 || data == DType.INT16,
                "data must be int8, int16 or float32, not " + data.text());
        boolean isFloat = data.isFloat();
        DType bias = isFloat ? data : data == DType.INT8 ? DType.INT32 : DType.INT64;
        for (int i = INPUT_WEIGHTS; i < BIASES; i++) {
            Check.dtype("weights", args.get(i), isFloat ? data : DType.INT8);
        }
        for (int i = BIASES; i < HIDDEN; i++) {
            Check.dtype("a bias", args.get(i), bias);
        }
        Check.dtype("the hidden state", args.get(HIDDEN), data);
        Check.dtype("the cell", args.get(CELL), isFloat ? data : DType.INT16);
        for (int i = MULTIPLIERS; i < ARITY; i++) {
            Check.dtype("multipliers and shifts", args.get(i), DType.INT32);
            shape("multipliers and shifts", args.get(i), RESCALINGS);
        }
    }

    private static void shape(String what, TensorType type, Integer... dims) {
        Check.that(
                type.shape().dims().equals(List.of(dims)),
                what + " must have shape " + new Shape(List.of(dims)).text() + ", not "
                        + type.shape().text());
    }
}
