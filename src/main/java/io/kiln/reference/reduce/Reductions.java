// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.reduce;

import io.kiln.base.FixedPoint;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflProduct;
import io.kiln.ir.op.reduce.TflSum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.Tensor;
import java.util.Arrays;
import java.util.List;

/** One element for all those along some dimensions. */
final class Reductions {
    private Reductions() {}

    static Tensor reduce(Reduce op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int[] groups = groups(data.shape(), op.axes());
        boolean isMax = op.kind() == Reduce.Kind.MAX;
        if (isMax || op.kind() == Reduce.Kind.MIN) {
            return extreme(data, groups, type, isMax);
        }
        if (op.kind() == Reduce.Kind.PROD) {
            return product(data, groups, type);
        }
        if (!data.isFloat()) {
            return whole(op, data, groups, type);
        }
        float[] result = new float[(int) type.shape().elements()];
        for (int i = 0; i < groups.length; i++) {
            result[groups[i]] += data.floats()[i];
        }
        if (op.kind() == Reduce.Kind.MEAN) {
            int count = groups.length / result.length;
            for (int i = 0; i < result.length; i++) {
                result[i] /= count;
            }
        }
        return Tensor.of(type, result);
    }

    /** Sums that wrap around, and means truncated towards zero. */
    private static Tensor whole(Reduce op, Tensor data, int[] groups, TensorType type) {
        int[] result = new int[(int) type.shape().elements()];
        for (int i = 0; i < groups.length; i++) {
            result[groups[i]] += data.ints()[i];
        }
        int count = op.kind() == Reduce.Kind.MEAN ? groups.length / result.length : 1;
        return Tensor.of(type, Arrays.stream(result).map(sum -> sum / count).toArray());
    }

    /** Products in the order of the elements; those of integers wrap around. */
    private static Tensor product(Tensor data, int[] groups, TensorType type) {
        int count = (int) type.shape().elements();
        if (data.isFloat()) {
            float[] result = new float[count];
            Arrays.fill(result, 1);
            for (int i = 0; i < groups.length; i++) {
                result[groups[i]] *= data.floats()[i];
            }
            return Tensor.of(type, result);
        }
        boolean isLong = type.dtype().isLong();
        long[] result = new long[count];
        Arrays.fill(result, 1);
        for (int i = 0; i < groups.length; i++) {
            result[groups[i]] *= isLong ? data.longs()[i] : data.ints()[i];
        }
        return isLong
                ? Tensor.of(type, result)
                : Tensor.of(
                        type,
                        Arrays.stream(result).mapToInt(value -> (int) value).toArray());
    }

    /** The extreme of the elements that are numbers; infinite if there is none. */
    private static Tensor extreme(Tensor data, int[] groups, TensorType type, boolean isMax) {
        return data.isFloat()
                ? extremeFloat(data.floats(), groups, type, isMax)
                : extremeInteger(data, groups, type, isMax);
    }

    private static Tensor extremeFloat(float[] data, int[] groups, TensorType type, boolean isMax) {
        float[] result = new float[(int) type.shape().elements()];
        Arrays.fill(result, isMax ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY);
        for (int i = 0; i < groups.length; i++) {
            float before = result[groups[i]];
            result[groups[i]] = (isMax ? data[i] > before : data[i] < before) ? data[i] : before;
        }
        return Tensor.of(type, result);
    }

    private static Tensor extremeInteger(Tensor data, int[] groups, TensorType type, boolean isMax) {
        Elements result = new Elements(type);
        int[] best = new int[(int) type.shape().elements()];
        Arrays.fill(best, -1);
        for (int i = 0; i < groups.length; i++) {
            int before = best[groups[i]];
            if (before < 0 || (isMax ? isAbove(data, i, before) : isAbove(data, before, i))) {
                best[groups[i]] = i;
            }
        }
        for (int i = 0; i < best.length; i++) {
            result.copy(data, best[i], i);
        }
        return result.tensor();
    }

    private static boolean isAbove(Tensor data, int a, int b) {
        if (data.isFloat()) {
            return data.floats()[a] > data.floats()[b];
        }
        return data.longs().length > 0 ? data.longs()[a] > data.longs()[b] : data.ints()[a] > data.ints()[b];
    }

    static Tensor product(TflProduct op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int[] groups = groups(data.shape(), op.axes());
        int[] result = new int[(int) type.shape().elements()];
        boolean[] begun = new boolean[result.length];
        for (int i = 0; i < groups.length; i++) {
            int factor = data.ints()[i] - op.inputZeroPoint();
            int group = groups[i];
            result[group] = begun[group] ? op.rescaled((long) result[group] * factor) : factor;
            begun[group] = true;
        }
        for (int i = 0; i < result.length; i++) {
            result[i] = FixedPoint.clamp(
                    (long) op.rescaled(result[i]) + op.outputZeroPoint(),
                    type.dtype().min(),
                    type.dtype().max());
        }
        return Tensor.of(type, result);
    }

    static Tensor sum(TflSum op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int zeroPoint = args.get(1).scalarInt();
        int[] groups = groups(data.shape(), op.axes());
        int[] result = new int[(int) type.shape().elements()];
        for (int i = 0; i < groups.length; i++) {
            result[groups[i]] += data.ints()[i] - zeroPoint;
        }
        return Tensor.of(type, result);
    }

    static Tensor index(ArgReduce op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int[] groups = groups(data.shape(), List.of(op.axis()));
        int stride = Elements.strides(data.shape())[op.axis()];
        int[] best = new int[(int) type.shape().elements()];
        Arrays.fill(best, -1);
        for (int i = 0; i < groups.length; i++) {
            int before = best[groups[i]];
            if (before < 0 || (op.largest() ? isAbove(data, i, before) : isAbove(data, before, i))) {
                best[groups[i]] = i;
            }
        }
        int[] result = new int[best.length];
        for (int i = 0; i < best.length; i++) {
            result[i] = best[i] / stride % data.shape().dim(op.axis());
        }
        return Tensor.of(type, result);
    }

    static Tensor topk(Topk op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int size = data.shape().dim(-1);
        int[] result = new int[(int) type.shape().elements()];
        for (int vector = 0; vector < result.length / op.k(); vector++) {
            int last = -1;
            for (int rank = 0; rank < op.k(); rank++) {
                int best = -1;
                for (int i = vector * size; i < (vector + 1) * size; i++) {
                    boolean isBehind = rank == 0 || isBehind(op, data, last, i);
                    if (isBehind && (best < 0 || isBetter(op, data, i, best))) {
                        best = i;
                    }
                }
                last = best < 0 ? last : best;
                result[vector * op.k() + rank] = Math.max(0, best - vector * size);
            }
        }
        return Tensor.of(type, result);
    }

    private static boolean isBetter(Topk op, Tensor data, int a, int b) {
        return op.isAscend() ? isAbove(data, b, a) : isAbove(data, a, b);
    }

    /** Whether an element comes after another; one that is not a number comes after none. */
    private static boolean isBehind(Topk op, Tensor data, int last, int i) {
        boolean isNumber = !data.isFloat() || !(Float.isNaN(data.floats()[i]) || Float.isNaN(data.floats()[last]));
        return isBetter(op, data, last, i) || (isNumber && !isBetter(op, data, i, last) && i > last);
    }

    /** For each element of the data, the element of the result to which it is reduced. */
    private static int[] groups(Shape data, List<Integer> axes) {
        int[] groups = new int[(int) data.elements()];
        int[] at = new int[data.rank()];
        for (int i = 0; i < groups.length; i++) {
            int group = 0;
            for (int axis = 0; axis < at.length; axis++) {
                group = axes.contains(axis) ? group : group * data.dim(axis) + at[axis];
            }
            groups[i] = group;
            Elements.advance(at, data);
        }
        return groups;
    }
}
