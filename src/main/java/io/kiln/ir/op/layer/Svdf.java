// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

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
    /** Position of the state among the arguments. */
    public static final int STATE = 4;

    /** Position of the slot that gets the next features. */
    public static final int SLOT = STATE + 1;

    /** Position of the multiplier of a feature; the shift follows. */
    public static final int FEATURE = SLOT + 1;

    /** Position of the multiplier of a result; the shift follows. */
    public static final int RESULT = FEATURE + 2;

    @Override
    public String name() {
        return "tfl.svdf";
    }

    @Override
    public int arity() {
        return RESULT + 2;
    }

    @Override
    public List<Integer> writes() {
        return List.of(STATE, SLOT);
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "rank", rank,
                "input_zero_point", inputZeroPoint,
                "state_zero_point", stateZeroPoint,
                "output_zero_point", outputZeroPoint,
                "rounding", "TFLITE");
    }

    @Override
    public List<Integer> weights() {
        return List.of(1, 2);
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        TensorType data = args.get(0);
        TensorType features = args.get(1);
        TensorType times = args.get(2);
        Check.rank("data", data, 2);
        Check.rank("feature weights", features, 2);
        Check.rank("time weights", times, 2);
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
        Check.perAxis("bias", args.get(3), isFloat ? DType.FLOAT32 : DType.INT32, units);
        Check.that(args.get(3).shape().elements() == units, "the bias must have " + units + " elements");
        TensorType state = args.get(STATE);
        Check.dtype("time weights", times, state.dtype());
        long elements = (long) data.shape().dim(0) * filters * times.shape().dim(1);
        Check.that(
                state.shape().elements() == elements,
                "the state " + state.text() + " does not have batch * filters * memory = " + elements + " elements");
        Check.dtype("feature weights", features, data.dtype());
        checkTypes(data.dtype(), state.dtype());
        Check.dtype("the slot", args.get(SLOT), DType.INT32);
        Check.that(
                args.get(SLOT).shape().elements() == 1,
                "the slot " + args.get(SLOT).text() + " is not one element");
        for (int i = FEATURE; i < arity(); i++) {
            Check.scalar("multiplier or shift", args.get(i), DType.INT32);
        }
        return new TensorType(Shape.of(data.shape().dim(0), units), data.dtype());
    }

    private static void checkTypes(DType data, DType state) {
        Check.that(
                data.isFloat() ? state.isFloat() : data == DType.INT8 && (state == DType.INT8 || state == DType.INT16),
                "data of " + data.text() + " and a state of " + state.text()
                        + " do not fit: both must be float32, or int8 data and an int8 or int16 state");
    }
}
