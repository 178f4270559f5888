// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference.reduce;

import static io.kiln.reference.kernel.OperatorKernel.pure;

import io.kiln.base.DType;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TflNormalize;
import io.kiln.ir.op.movement.Updates.TflDynamicUpdateSlice;
import io.kiln.ir.op.reduce.ArgReduce;
import io.kiln.ir.op.reduce.QuantizedReductions.TflProduct;
import io.kiln.ir.op.reduce.QuantizedReductions.TflSum;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.op.reduce.TflCumsum;
import io.kiln.ir.op.reduce.Topk;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.element.Elements;
import io.kiln.reference.kernel.OperatorKernel;
import io.kiln.reference.kernel.Tensor;
import io.kiln.reference.layer.Normalizations;
import io.kiln.reference.movement.MovementKernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Kernels of the operators that combine elements along dimensions: reductions, cumulative sums, products of matrices. */
public final class ReductionKernels {
    public static final Map<Class<? extends Op>, OperatorKernel<Op>> ALL = Map.ofEntries(
            pure(Reduce.class, ReductionKernels::reduce),
            pure(TflProduct.class, ReductionKernels::product),
            pure(TflSum.class, ReductionKernels::sum),
            pure(TflNormalize.class, Normalizations::normalize),
            pure(ArgReduce.class, ReductionKernels::index),
            pure(Topk.class, ReductionKernels::topk),
            pure(TflBatchMatmul.class, ReductionKernels::multiply),
            pure(TflCumsum.class, ReductionKernels::sums),
            pure(TflDynamicUpdateSlice.class, MovementKernels::update));

    private ReductionKernels() {}

    private static Tensor reduce(Reduce op, List<Tensor> args, TensorType type) {
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
        return isLong ? Tensor.of(type, result) : Tensor.ofInts(type, i -> (int) result[i]);
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
        return data.gather(best(data, groups, type, isMax), type);
    }

    /** For each element of the result the first place of the extreme of its group. */
    private static int[] best(Tensor data, int[] groups, TensorType type, boolean isMax) {
        int[] best = new int[(int) type.shape().elements()];
        Arrays.fill(best, -1);
        for (int i = 0; i < groups.length; i++) {
            int before = best[groups[i]];
            if (before < 0 || (isMax ? isAbove(data, i, before) : isAbove(data, before, i))) {
                best[groups[i]] = i;
            }
        }
        return best;
    }

    private static boolean isAbove(Tensor data, int a, int b) {
        if (data.isFloat()) {
            return data.floats()[a] > data.floats()[b];
        }
        return data.longs().length > 0 ? data.longs()[a] > data.longs()[b] : data.ints()[a] > data.ints()[b];
    }

    private static Tensor product(TflProduct op, List<Tensor> args, TensorType type) {
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
        return Tensor.ofLimited(type, i -> (long) op.rescaled(result[i]) + op.outputZeroPoint());
    }

    private static Tensor sum(TflSum op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int zeroPoint = args.get(1).scalarInt();
        int[] groups = groups(data.shape(), op.axes());
        int[] result = new int[(int) type.shape().elements()];
        for (int i = 0; i < groups.length; i++) {
            result[groups[i]] += data.ints()[i] - zeroPoint;
        }
        return Tensor.of(type, result);
    }

    private static Tensor index(ArgReduce op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int[] groups = groups(data.shape(), List.of(op.axis()));
        int stride = Elements.strides(data.shape())[op.axis()];
        int[] best = best(data, groups, type, op.largest());
        return Tensor.ofInts(type, i -> best[i] / stride % data.shape().dim(op.axis()));
    }

    private static Tensor topk(Topk op, List<Tensor> args, TensorType type) {
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

    private static Tensor sums(TflCumsum op, List<Tensor> args, TensorType type) {
        Tensor data = args.get(0);
        int count = (int) type.shape().elements();
        float[] floats = new float[data.isFloat() ? count : 0];
        long[] sums = new long[data.isFloat() ? 0 : count];
        int step = Elements.strides(type.shape())[op.axis()];
        int size = type.shape().dim(op.axis());
        for (int i = 0; i < count; i++) {
            if (i / step % size == 0) {
                int first = op.reverse() ? i + (size - 1) * step : i;
                line(op, args, floats, sums, first, op.reverse() ? -step : step);
            }
        }
        return data.isFloat() ? Tensor.of(type, floats) : Tensor.ofSums(type, sums);
    }

    private static void line(TflCumsum op, List<Tensor> args, float[] floats, long[] sums, int first, int step) {
        Tensor data = args.get(0);
        int zeroPoint = args.get(1).scalarInt();
        int shift = data.type().dtype() == DType.INT8 ? TflCumsum.FRACTION_BITS : 0;
        int size = data.shape().dim(op.axis());
        float real = 0;
        long sum = -zeroPoint;
        for (int k = 0; k < size; k++) {
            int at = first + k * step;
            if (data.isFloat()) {
                floats[at] = op.exclusive() ? real : real + data.floats()[at];
                real += data.floats()[at];
            } else {
                long term = (data.longs().length > 0 ? data.longs()[at] : data.ints()[at]) - zeroPoint;
                sums[at] = (op.exclusive() ? sum : sum + term) << shift;
                sum += term;
            }
        }
    }

    private static Tensor multiply(TflBatchMatmul op, List<Tensor> args, TensorType type) {
        Tensor a = args.get(0);
        Tensor b = args.get(1);
        int depth = op.depth(a.shape());
        int[] at = new int[type.shape().rank()];
        int count = (int) type.shape().elements();
        int aStep = op.transposeA() ? a.shape().dim(-1) : 1;
        int bStep = op.transposeB() ? 1 : b.shape().dim(-1);
        long[] sums = new long[a.isFloat() ? 0 : count];
        float[] floats = new float[a.isFloat() ? count : 0];
        for (int i = 0; i < count; i++) {
            int row = at[at.length - 2] * (op.transposeA() ? 1 : depth);
            int column = at[at.length - 1] * (op.transposeB() ? depth : 1);
            int fromA = matrix(a.shape(), at) + row;
            int fromB = matrix(b.shape(), at) + column;
            for (int k = 0; k < depth; k++) {
                int x = fromA + k * aStep;
                int y = fromB + k * bStep;
                if (a.isFloat()) {
                    floats[i] += a.floats()[x] * b.floats()[y];
                } else {
                    int centred = a.ints()[x] - args.get(2).scalarInt();
                    sums[i] += (long) centred * (b.ints()[y] - args.get(3).scalarInt());
                }
            }
            Elements.advance(at, type.shape());
        }
        return a.isFloat() ? Tensor.of(type, floats) : Tensor.ofSums(type, sums);
    }

    /** Index of the first element of the matrix for an element of the result. */
    private static int matrix(Shape shape, int[] at) {
        int position = 0;
        int missing = at.length - shape.rank();
        for (int i = 0; i < shape.rank() - 2; i++) {
            position = position * shape.dim(i) + (shape.dim(i) == 1 ? 0 : at[missing + i]);
        }
        return position * shape.dim(-2) * shape.dim(-1);
    }
}
