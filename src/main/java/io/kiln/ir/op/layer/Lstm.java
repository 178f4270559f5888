// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.Int16Functions;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.element.TflSigmoid16;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A long short-term memory layer over whole sequences (lstm_eval.h of TensorFlow Lite). For every step of every
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
 * with int8 weights and an int16 cell. Sums become int16 with 12 fraction bits; see {@link Arithmetic}.
 *
 * @param timeMajor whether the data's first dimension is time
 * @param inputZeroPoint zero point of the data
 * @param hiddenZeroPoint zero point of the hidden state and the result
 * @param tanhMultiplier multiplier of the cell as the argument of {@link TflSigmoid16}; 3 for floats
 * @param tanhShift its shift; 0 for floats
 * @param cellClip the cell's largest magnitude, in steps of its scale if it is quantized; 0 for no limit
 * @param arithmetic of integers; {@link Arithmetic#MICRO} for floats
 */
public record Lstm(
        boolean timeMajor,
        int inputZeroPoint,
        int hiddenZeroPoint,
        int tanhMultiplier,
        int tanhShift,
        float cellClip,
        Arithmetic arithmetic)
        implements Op {
    /** Number of gates, and of arguments of each kind. */
    public static final int GATES = 4;

    public static final Signature<Lstm> SIGNATURE = Signature.of(Lstm.class, "tfl.unidirectional_sequence_lstm")
            .data("data", operand -> operand.rank(3), DType.INT8, DType.INT16, DType.FLOAT32)
            .constant("input weights", operand -> operand.times(GATES).rank(2).weighs())
            .constant(
                    "recurrent weights", operand -> operand.times(GATES).rank(2).weighs())
            .constant("bias", operand -> operand.times(GATES))
            .state("hidden state")
            .state("cell")
            .constant("multipliers", DType.INT32)
            .constant("shifts", DType.INT32)
            .attributes(
                    Attribute.either("layout", Lstm::timeMajor, "TNC", "NTC"),
                    Attribute.whole("input_zero_point", Lstm::inputZeroPoint),
                    Attribute.whole("hidden_zero_point", Lstm::hiddenZeroPoint),
                    Attribute.whole("tanh_multiplier", Lstm::tanhMultiplier, 1, Short.MAX_VALUE)
                            .and(Attribute.whole("tanh_shift", Lstm::tanhShift, 0, Integer.SIZE - 1)),
                    Attribute.single("cell_clip", Lstm::cellClip),
                    Attribute.choice("rounding", Lstm::arithmetic, Arithmetic::rounding, List.of(Arithmetic.values())),
                    (timeMajor, input, hidden, tanh, clip, arithmetic) ->
                            new Lstm(timeMajor, input, hidden, tanh.first(), tanh.second(), clip, arithmetic))
            .traits()
            .rules(Lstm::rules)
            .result(Lstm::result);

    @Override
    public Card<Lstm> card() {
        return SIGNATURE.of(this);
    }

    /** How integers are computed; the two disagree by a few units of an int16 in a gate. */
    public enum Arithmetic {
        /**
         * TensorFlow Lite Micro's (lstm_eval.cc, lstm_eval_common.cc): both sums of a gate are saturated before they are added, which saturates
         * again; the functions are {@link TflSigmoid16}; products are rescaled by multiplier and shift, which rounds twice.
         */
        MICRO("TFLITE"),

        /**
         * That of TensorFlow Lite's library (lstm_eval.cc, portable_tensor_utils.cc), with int8 data and a cell of which 0 to 6 bits are integer
         * bits: the sum of recurrent weights is added to the saturated sum of input weights, and the result is saturated; the functions are
         * {@link Int16Functions}; {@code forget * cell} is divided by 2^15, and {@code input * cellGate} by 2^(15 + integer bits of the
         * cell), rounded to nearest and halves away from zero, whatever the multipliers of the two say.
         */
        LIBRARY("TFLITE_LIBRARY");

        private final String rounding;

        Arithmetic(String rounding) {
            this.rounding = rounding;
        }

        /** Its name in Relay text. */
        public String rounding() {
            return rounding;
        }
    }

    /** Factor of the argument of {@link TflSigmoid16} with 12 fraction bits, which are {@link Int16Functions#GATE_BITS} integer bits. */
    private static final int STEPS_OF_SCALE = 3;

    /** A layer of floats, or of integers in {@link Arithmetic#MICRO}. */
    public Lstm(
            boolean timeMajor,
            int inputZeroPoint,
            int hiddenZeroPoint,
            int tanhMultiplier,
            int tanhShift,
            float cellClip) {
        this(timeMajor, inputZeroPoint, hiddenZeroPoint, tanhMultiplier, tanhShift, cellClip, Arithmetic.MICRO);
    }

    public Lstm in(Arithmetic other) {
        return new Lstm(timeMajor, inputZeroPoint, hiddenZeroPoint, tanhMultiplier, tanhShift, cellClip, other);
    }

    /** Bits of the cell, an int16 whose scale is a power of two, that are integer bits. */
    public int cellIntegerBits() {
        int left = Integer.numberOfTrailingZeros(Math.max(1, tanhMultiplier / STEPS_OF_SCALE));
        return Int16Functions.GATE_BITS + left - tanhShift;
    }

    /** Fraction bits of the results of functions. */
    public static final int FUNCTION_BITS = 15;

    /** Position of the first input weights. */
    public static final int INPUT_WEIGHTS = SIGNATURE.position("input weights");

    /** Position of the first recurrent weights. */
    public static final int RECURRENT_WEIGHTS = SIGNATURE.position("recurrent weights");

    /** Position of the first bias. */
    public static final int BIASES = SIGNATURE.position("bias");

    public static final int HIDDEN = SIGNATURE.position("hidden state");
    public static final int CELL = SIGNATURE.position("cell");

    /** Position of the multipliers; the shifts follow. */
    public static final int MULTIPLIERS = SIGNATURE.position("multipliers");

    public static final int RESCALINGS = 2 * GATES + 3;

    /** Number of sequences in data of a shape. */
    public int batch(Shape data) {
        return data.dim(timeMajor ? 1 : 0);
    }

    public int steps(Shape data) {
        return data.dim(timeMajor ? 0 : 1);
    }

    private void checkArithmetic(DType data) {
        if (arithmetic == Arithmetic.LIBRARY) {
            Check.that(
                    data == DType.INT8, "rounding " + arithmetic.rounding + " needs data of int8, not " + data.text());
            Check.that(
                    tanhMultiplier % STEPS_OF_SCALE == 0
                            && Integer.bitCount(tanhMultiplier / STEPS_OF_SCALE) == 1
                            && cellIntegerBits() >= 0
                            && cellIntegerBits() <= Int16Functions.MOST_BITS,
                    "rounding " + arithmetic.rounding
                            + " needs a cell with 9 to 15 fraction bits: a tanh_multiplier of 3 and a tanh_shift up to"
                            + " 3, or a multiplier of 6, 12 or 24 and no shift");
        }
    }

    private void checkTypes(List<TensorType> args) {
        DType data = args.get(0).dtype();
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
        for (int i = MULTIPLIERS; i < arity(); i++) {
            shape("multipliers and shifts", args.get(i), RESCALINGS);
        }
    }

    private static void shape(String what, TensorType type, Integer... dims) {
        Check.that(
                type.shape().dims().equals(List.of(dims)),
                what + " must have shape " + new Shape(List.of(dims)).text() + ", not "
                        + type.shape().text());
    }

    private void rules(Arguments args) {
        IntStream.range(BIASES, HIDDEN).forEach(args::biases);
    }

    private TensorType result(List<TensorType> args) {
        TensorType data = args.get(0);
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
        checkArithmetic(data.dtype());
        return new TensorType(Shape.of(data.shape().dim(0), data.shape().dim(1), units), data.dtype());
    }
}
