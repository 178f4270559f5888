// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * One step of a singular value decomposition filter (svdf_common.cc of TensorFlow Lite Micro): each filter remembers
 * its features of the last inputs and weighs them by age.
 *
 * <p>Arguments: data (batch, inputs); feature weights (filters, inputs); time weights (filters, memory), the oldest
 * first; bias (units); the state, a variable of batch * filters * memory elements; the slot, a variable of one int32;
 * multiplier and shift of the feature; multiplier and shift of the result (int32 scalars, 1 and 0 for floats). A unit
 * sums the products of state and time weights over {@code rank} filters, which are adjacent among the weights, and adds
 * its bias.
 *
 * <p>The state is a ring: for each batch {@code memory} slots, each of which holds the features of one run as (rank,
 * units). The features {@code weights * data} replace those in the slot that the second variable names, the oldest, and
 * the variable goes on to the next slot, after the last one to the first; a value that names no slot counts as the first. Nothing is moved.
 *
 * <p>For int8 data the result is int8 and the state int16 or int8; both are rescaled as by {@link TflRequantize}.
 *
 * @param rank filters per unit
 * @param inputZeroPoint zero point of the data
 * @param stateZeroPoint zero point of the state
 * @param outputZeroPoint zero point of the result
 */
public record Svdf(int rank, int inputZeroPoint, int stateZeroPoint, int outputZeroPoint) implements Op {
    public static final Signature<Svdf> SIGNATURE = Signature.of(Svdf.class, "tfl.svdf")
            .data("data", operand -> operand.rank(2), DType.INT8, DType.FLOAT32)
            .constant("feature weights", operand -> operand.rank(2).weighs())
            .constant("time weights", operand -> operand.rank(2).weighs())
            .constant("bias")
            .state("state")
            .state(
                    "slot",
                    operand -> operand.fits((what, type, op, args) -> Check.that(
                            type.shape().elements() == 1, "the slot " + type.text() + " is not one element")),
                    DType.INT32)
            .number("feature multiplier")
            .number("feature shift")
            .number("result multiplier")
            .number("result shift")
            .attributes(
                    Attribute.whole("rank", Svdf::rank, 1),
                    Attribute.whole("input_zero_point", Svdf::inputZeroPoint),
                    Attribute.whole("state_zero_point", Svdf::stateZeroPoint),
                    Attribute.whole("output_zero_point", Svdf::outputZeroPoint).then("rounding", "TFLITE"),
                    Svdf::new)
            .result(Svdf::result);

    @Override
    public Card<Svdf> card() {
        return SIGNATURE.of(this);
    }

    public static final int STATE = SIGNATURE.position("state");

    /** Position of the slot that gets the next features. */
    public static final int SLOT = SIGNATURE.position("slot");

    /** Position of the multiplier of a feature; the shift follows. */
    public static final int FEATURE = SIGNATURE.position("feature multiplier");

    /** Position of the multiplier of a result; the shift follows. */
    public static final int RESULT = SIGNATURE.position("result multiplier");

    private static void checkTypes(DType data, DType state) {
        Check.that(
                data.isFloat() ? state.isFloat() : data == DType.INT8 && (state == DType.INT8 || state == DType.INT16),
                "data of " + data.text() + " and a state of " + state.text()
                        + " do not fit: both must be float32, or int8 data and an int8 or int16 state");
    }

    private TensorType result(List<TensorType> args) {
        TensorType data = args.get(0);
        TensorType features = args.get(1);
        TensorType times = args.get(2);
        int filters = features.shape().dim(0);
        Check.that(
                features.shape().dim(1) == data.shape().dim(1),
                "feature weights " + features.text() + " do not fit data " + data.text());
        Check.that(
                times.shape().dim(0) == filters,
                "time weights " + times.text() + " do not fit feature weights " + features.text());
        Check.that(rank > 0 && filters % rank == 0, filters + " filters do not divide into units of rank " + rank);
        int units = filters / rank;
        boolean isFloat = data.dtype().isFloat();
        Check.dtype("bias", args.get(3), isFloat ? DType.FLOAT32 : DType.INT32);
        Check.perAxis("bias", args.get(3), units);
        Check.that(args.get(3).shape().elements() == units, "the bias must have " + units + " elements");
        TensorType state = args.get(STATE);
        Check.dtype("time weights", times, state.dtype());
        long elements = (long) data.shape().dim(0) * filters * times.shape().dim(1);
        Check.that(
                state.shape().elements() == elements,
                "the state " + state.text() + " does not have batch * filters * memory = " + elements + " elements");
        Check.dtype("feature weights", features, data.dtype());
        checkTypes(data.dtype(), state.dtype());
        return new TensorType(Shape.of(data.shape().dim(0), units), data.dtype());
    }
}
