// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;

import io.kiln.base.DType;
import io.kiln.frontend.Formulas;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.movement.ReduceWindowImporters.ScalarBody;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.StablehloOptions.StablehloGather;
import io.kiln.frontend.tflite.schema.StablehloOptions.StablehloScatter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Updates.ScatterNd;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Windows of a tensor at places that vectors of indices name: STABLEHLO_GATHER reads them, STABLEHLO_SCATTER combines them with updates
 * (gather and scatter of StableHLO's specification).
 */
public final class IndexedWindowImporters {
    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.STABLEHLO_GATHER, 1, IndexedWindowImporters::gather),
            builtin(BuiltinOperator.STABLEHLO_SCATTER, 1, IndexedWindowImporters::scatter));

    private static final int MOST_RANK = 8;
    private static final Set<DType> INDEX = Set.of(DType.INT32, DType.INT64);
    private static final Map<Binary.Kind, ScatterNd.Mode> MODES = Map.of(
            Binary.Kind.ADD, ScatterNd.Mode.ADD,
            Binary.Kind.MULTIPLY, ScatterNd.Mode.MUL,
            Binary.Kind.MAXIMUM, ScatterNd.Mode.MAX,
            Binary.Kind.MINIMUM, ScatterNd.Mode.MIN);

    private final OperatorContext operator;
    private final Formulas f;
    private final Shape data;
    private final Shape indices;

    /** The dimension of the indices along which a vector lies; their rank if each index is a vector of its own. */
    private final int vector;

    private IndexedWindowImporters(OperatorContext operator, long vector) {
        this.operator = operator;
        this.f = operator;
        this.data = operator.input(0).shape();
        this.indices = operator.input(1).shape();
        operator.requireThat(
                INDEX.contains(operator.input(1).dtype()) && vector >= 0 && vector <= indices.rank(),
                "its indices are " + operator.input(1).text() + ", with vectors along dimension " + vector,
                "int32 or int64, and one of their dimensions, or the number of these");
        this.vector = (int) vector;
    }

    private static void gather(OperatorContext operator) {
        FlatTable options = operator.laterOptions(StablehloGather.TYPE);
        new IndexedWindowImporters(operator, options.get(StablehloGather.INDEX_VECTOR_DIM)).read(options);
    }

    private static void scatter(OperatorContext operator) {
        FlatTable options = operator.laterOptions(StablehloScatter.TYPE);
        new IndexedWindowImporters(operator, options.get(StablehloScatter.INDEX_VECTOR_DIM)).combine(options);
    }

    /** Windows that would begin or end outside begin where they fit. */
    private void read(FlatTable options) {
        int[] sizes = numbers(
                "slice sizes",
                options.get(StablehloGather.SLICE_SIZES),
                data.dims().stream().max(Integer::compare).orElse(0) + 1);
        int[] collapsed =
                dimensions("collapsed dimensions", options.get(StablehloGather.COLLAPSED_SLICE_DIMS), data.rank());
        int[] map = map(options.get(StablehloGather.START_INDEX_MAP));
        List<Integer> window = others(data.rank(), collapsed);
        List<Integer> batch = batch();
        int rank = window.size() + batch.size();
        int[] offsets = dimensions("offset dimensions", options.get(StablehloGather.OFFSET_DIMS), rank);
        operator.requireThat(
                sizes.length == data.rank()
                        && IntStream.range(0, sizes.length).allMatch(i -> sizes[i] >= 1 && sizes[i] <= data.dim(i))
                        && Arrays.stream(collapsed).allMatch(i -> sizes[i] == 1),
                "its slice sizes are " + Arrays.toString(sizes) + " of " + data.text(),
                "a size within each dimension, 1 where it is collapsed");
        Shape shape = new Shape(
                placed(rank, offsets, window.stream().map(i -> sizes[i]).toList(), batch));
        TfliteTensor result = operator.output().withShape(operator.outputShape(() -> shape));
        operator.requireThat(
                shape.rank() == rank
                        && rank <= MOST_RANK
                        && shape.equals(result.shape())
                        && result.dtype() == operator.input(0).dtype(),
                "it makes " + result.text() + " of windows " + Arrays.toString(sizes) + " of "
                        + operator.input(0).text() + " at " + operator.input(1).text(),
                "a result of the dimensions that they have");
        operator.check();
        Arg place = f.number(0, DType.INT32);
        for (int k = 0; k < map.length; k++) {
            Arg start = limited(starts(k), 0, data.dim(map[k]) - sizes[map[k]]);
            place = f.add(place, f.multiply(spread(start, batch, rank, offsets), stride(map[k])));
        }
        for (int i = 0; i < window.size(); i++) {
            int stride = stride(window.get(i));
            place = f.add(
                    place, f.places(Formulas.along(rank, offsets[i], sizes[window.get(i)]), step -> step * stride));
        }
        Arg elements = f.reshape(operator.value(0), Shape.of(Math.toIntExact(data.elements())));
        operator.finish(f.take(elements, f.broadcast(place, shape), 0));
    }

    /** Elements of windows that lie outside do not count. */
    private void combine(FlatTable options) {
        TfliteTensor updates = operator.input(2);
        int rank = updates.shape().rank();
        int[] inserted =
                dimensions("inserted dimensions", options.get(StablehloScatter.INSERTED_WINDOW_DIMS), data.rank());
        int[] map = map(options.get(StablehloScatter.SCATTER_DIMS_TO_OPERAND_DIMS));
        int[] windows = dimensions("window dimensions", options.get(StablehloScatter.UPDATE_WINDOW_DIMS), rank);
        List<Integer> window = others(data.rank(), inserted);
        operator.requireThat(
                window.size() == windows.length
                        && IntStream.range(0, windows.length)
                                .allMatch(i -> updates.shape().dim(windows[i]) <= data.dim(window.get(i))),
                "the windows of " + updates.text() + " do not fit " + data.text(),
                "a dimension within each of the data that is not inserted");
        List<Integer> sizes =
                Arrays.stream(windows).mapToObj(i -> updates.shape().dim(i)).toList();
        operator.requireThat(
                placed(rank, windows, sizes, batch()).equals(updates.shape().dims())
                        && updates.dtype() == operator.input(0).dtype()
                        && data.equals(operator.outputShape(() -> data)),
                "it combines " + updates.text() + " at " + operator.input(1).text() + " with "
                        + operator.input(0).text(),
                "updates of the data's type for each vector of indices");
        operator.check();
        Optional<Binary.Kind> body = ScalarBody.of(
                operator, options.get(StablehloScatter.UPDATE_COMPUTATION_SUBGRAPH_INDEX), MODES.keySet());
        int total = Math.toIntExact(data.elements());
        Arg place = f.number(0, DType.INT32);
        Arg isInside = f.number(1, DType.BOOL);
        for (int axis = 0; axis < data.rank(); axis++) {
            Arg index = f.number(0, DType.INT32);
            for (int k = 0; k < map.length; k++) {
                if (map[k] == axis) {
                    index = spread(limited(starts(k), -data.dim(axis), data.dim(axis)), batch(), rank, windows);
                }
            }
            int at = window.indexOf(axis);
            if (at >= 0) {
                index = f.add(index, f.places(Formulas.along(rank, windows[at], sizes.get(at)), step -> step));
            }
            isInside = and(isInside, f.binary(Binary.Kind.GREATER_EQUAL, index, f.number(0, DType.INT32)));
            isInside = and(isInside, f.less(index, f.number(data.dim(axis), DType.INT32)));
            place = f.add(place, f.multiply(index, stride(axis)));
        }
        Arg places = f.broadcast(f.where(isInside, place, f.number(total, DType.INT32)), updates.shape());
        int count = Math.toIntExact(updates.shape().elements());
        finish(body.map(MODES::get).orElse(ScatterNd.Mode.UPDATE), f.reshape(places, Shape.of(1, count)), count);
    }

    /** Combines elements one after the other; those that do not count go to one behind the data. */
    private void finish(ScatterNd.Mode mode, Arg places, int count) {
        DType dtype = operator.input(0).dtype();
        boolean isMoved = mode == ScatterNd.Mode.UPDATE;
        operator.checkTypes(
                isMoved
                        ? Set.of(DType.FLOAT32, DType.BOOL, DType.INT8, DType.INT16, DType.INT32, DType.INT64)
                        : mode == ScatterNd.Mode.ADD
                                ? Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64)
                                : Set.of(DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32),
                operator.input(0));
        DType wide = isMoved || dtype.bytes() >= DType.INT32.bytes() ? dtype : DType.INT32;
        int total = Math.toIntExact(data.elements());
        Arg elements = f.cast(f.reshape(operator.value(0), Shape.of(total, 1)), wide);
        Arg more = operator.emit(new Pad(List.of(0, 0), List.of(1, 0)), elements, f.number(0, wide));
        Arg updates = f.cast(f.reshape(operator.value(2), Shape.of(count, 1)), wide);
        Arg scattered = operator.emit(new ScatterNd(mode), more, places, updates);
        operator.finish(f.reshape(f.cast(f.slice(scattered, 0, 0, total), dtype), data));
    }

    private Arg and(Arg a, Arg b) {
        return f.and(a, b);
    }

    /** Component k of all vectors, without their dimension. */
    private Arg starts(int k) {
        Arg all = operator.value(1);
        return vector == indices.rank() ? all : f.slice(all, vector, k, k + 1);
    }

    private Arg limited(Arg value, int least, int most) {
        DType dtype = f.dtype(value);
        Arg above = f.maximum(value, f.number(least, dtype));
        return f.cast(f.minimum(above, f.number(most, dtype)), DType.INT32);
    }

    /** The indices' dimensions but that of their vectors. */
    private List<Integer> batch() {
        List<Integer> dims = new ArrayList<>(indices.dims());
        if (vector < indices.rank()) {
            dims.remove(vector);
        }
        return dims;
    }

    /** A number for each vector, where windows have the given dimensions of a result. */
    private Arg spread(Arg value, List<Integer> batch, int rank, int[] windows) {
        return f.reshape(
                value,
                new Shape(placed(
                        rank, windows, IntStream.of(windows).mapToObj(i -> 1).toList(), batch)));
    }

    /** The dimensions of windows at their places, those of the vectors at the others; as many as there are. */
    private static List<Integer> placed(int rank, int[] windows, List<Integer> sizes, List<Integer> batch) {
        List<Integer> dims = new ArrayList<>();
        int next = 0;
        for (int i = 0; i < rank; i++) {
            int dimension = i;
            int window = IntStream.range(0, windows.length)
                    .filter(w -> windows[w] == dimension)
                    .findFirst()
                    .orElse(-1);
            if (window >= 0 && window < sizes.size()) {
                dims.add(sizes.get(window));
            } else if (next < batch.size()) {
                dims.add(batch.get(next++));
            }
        }
        return next == batch.size() && windows.length == sizes.size() ? dims : List.of();
    }

    private int[] map(FlatVector stated) {
        int[] map = dimensions("dimensions of the indices", stated, data.rank());
        int components = vector == indices.rank() ? 1 : indices.dim(vector);
        operator.requireThat(
                map.length == components,
                "its vectors have " + components + " components for " + map.length + " dimensions",
                "one for each");
        return map;
    }

    /** Dimensions of a tensor, none twice. */
    private int[] dimensions(String what, FlatVector stated, int rank) {
        int[] values = numbers(what, stated, rank);
        operator.requireThat(
                Arrays.stream(values).distinct().count() == values.length,
                "its " + what + " are " + Arrays.toString(values),
                "each once");
        return values;
    }

    /** Numbers from 0 to below a limit. */
    private int[] numbers(String what, FlatVector stated, int limit) {
        operator.requireThat(
                stated.size() <= MOST_RANK, "its " + what + " are " + stated.size(), "at most " + MOST_RANK);
        long[] values = IntStream.range(0, stated.size()).mapToLong(stated::i64).toArray();
        operator.requireThat(
                Arrays.stream(values).allMatch(value -> value >= 0 && value < limit),
                "its " + what + " are " + Arrays.toString(values),
                "numbers from 0 to " + (limit - 1));
        return Arrays.stream(values).mapToInt(value -> (int) value).toArray();
    }

    private static List<Integer> others(int rank, int[] without) {
        return IntStream.range(0, rank)
                .filter(i -> Arrays.stream(without).noneMatch(other -> other == i))
                .boxed()
                .toList();
    }

    private int stride(int axis) {
        return data.dims().subList(axis + 1, data.rank()).stream().reduce(1, Math::multiplyExact);
    }
}
