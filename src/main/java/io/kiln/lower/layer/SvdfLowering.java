// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.Group;
import io.kiln.lower.SumKernels.Result;
import io.kiln.lower.SumKernels.Sums;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A filter with state: new features replace the oldest in the ring, and all are weighed by age; both by micro-kernels
 * where the core has them and the types fit.
 */
final class SvdfLowering extends RootLowering {
    /** Units whose accumulators are computed together in loops. */
    private static final int BLOCK = 4;

    private final Svdf svdf;
    private final Buffer state;
    private final SvdfShape shape;
    private final boolean isFloat;
    private final Optional<SvdfKernels> kernels;
    private final String reason;

    /**
     * Reads the operator.
     *
     * @param kernels the core's micro-kernels, if it has any
     */
    SvdfLowering(FusedOperator op, Optional<SumKernels> kernels) {
        super(op);
        this.svdf = (Svdf) op.root().op();
        this.state = buffers.argument(Svdf.STATE);
        this.shape = SvdfShape.of(op);
        this.isFloat = op.type().dtype().isFloat();
        this.kernels = kernels.flatMap(k -> SvdfKernels.of(op, k));
        this.reason =
                StateReason.of(kernels, this.kernels.isPresent(), op.type().dtype());
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        Expr slot = slot(body);
        kernels.ifPresentOrElse(k -> k.emit(body, slot, buffers.tables(), buffers), () -> loops(body, slot));
        String schedule = kernels.isPresent() ? "ring(kernels)" : "ring";
        return Nests.single(buffers, rows, body.build(), schedule)
                .executing(shape.macs())
                .because(reason);
    }

    /** The slot of the new features; the variable goes on to the next one. */
    private Expr slot(BlockBuilder body) {
        Buffer variable = buffers.argument(Svdf.SLOT);
        Expr named = body.let("named", load(variable, imm(0)));
        Expr isSlot = Exprs.lt(Exprs.cast(DType.UINT32, named), imm(shape.memory(), DType.UINT32));
        Expr slot = body.let("slot", select(isSlot, named, imm(0)));
        Expr next = body.let("next", add(slot, 1));
        body.store(variable, imm(0), select(Exprs.lt(next, imm(shape.memory())), next, imm(0)));
        return slot;
    }

    private void loops(BlockBuilder body, Expr slot) {
        Buffer features = shape.rank() == 1
                ? buffers.argument(1)
                : buffers.tables()
                        .add(
                                "features",
                                op.rootTypes().get(1).dtype(),
                                shape.byRank(op.root().constant(1)));
        Units units = new Units(
                buffers.argument(3),
                buffers.tables()
                        .add("times", state.dtype(), shape.byAge(op.root().constant(2))),
                new Epilogue(op, Integer.MAX_VALUE, buffers.tables()));
        body.loop("b", shape.batch(), (outer, b) -> {
            Expr ring = outer.let("ring", mul(b, shape.memory() * (long) shape.filters()));
            Expr to = outer.let("to", add(ring, mul(slot, shape.filters())));
            outer.loop("f", shape.filters(), (block, f) -> feature(block, features, b, f, add(to, f)));
            int whole = shape.units() / BLOCK * BLOCK;
            outer.loop("u", imm(0), imm(whole), BLOCK, (block, u) -> {
                results(block, units, new Place(slot, ring, b, u), BLOCK);
            });
            outer.loop("u", imm(whole), imm(shape.units()), (block, u) -> {
                results(block, units, new Place(slot, ring, b, u), 1);
            });
        });
    }

    private Expr zero() {
        return isFloat ? imm(0.0f) : imm(0);
    }

    private void feature(BlockBuilder block, Buffer weights, Expr b, Expr f, Expr to) {
        Buffer data = buffers.argument(0);
        Expr.Var sum = block.mutable("feature", zero());
        block.loop("c", shape.inputs(), (inner, c) -> {
            Expr value = load(data, add(mul(b, shape.inputs()), c));
            Expr centred = isFloat ? value : sub(value, imm(svdf.inputZeroPoint()));
            inner.assign(sum, add(sum, mul(load(weights, add(mul(f, shape.inputs()), c)), centred)));
        });
        block.store(state, to, isFloat ? sum : limited(sum, Svdf.FEATURE, svdf.stateZeroPoint(), state));
    }

    /** What all units share: the table of biases, the table of time weights, and the epilogue. */
    private record Units(Buffer bias, Buffer times, Epilogue epilogue) {}

    /** Where units are: the newest slot, the start of the ring, the batch and the first unit. */
    private record Place(Expr slot, Expr ring, Expr batch, Expr unit) {}

    private void results(BlockBuilder block, Units units, Place at, int count) {
        List<Expr.Var> sums = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sums.add(block.mutable("sum" + i, wrapping(load(units.bias, add(at.unit, i)))));
        }
        block.loop("r", shape.rank(), (filter, r) -> {
            Expr column = filter.let("column", add(mul(r, shape.units()), at.unit));
            Expr older = filter.let("older", sub(imm(shape.memory() - 1L), at.slot));
            weigh(filter, units.times, sums, new Run(imm(0), older, add(at.slot, 1), add(at.ring, column), column));
            weigh(
                    filter,
                    units.times,
                    sums,
                    new Run(older, imm(shape.memory()), sub(imm(0), older), add(at.ring, column), column));
        });
        for (int i = 0; i < count; i++) {
            Expr result = isFloat
                    ? sums.get(i)
                    : limited(
                            Exprs.cast(DType.INT32, sums.get(i)),
                            Svdf.RESULT,
                            svdf.outputZeroPoint(),
                            buffers.output());
            Expr place = add(add(mul(at.batch, shape.units()), at.unit), i);
            units.epilogue.store(block, "_out" + i, result, imm(0), buffers.output(), place);
        }
    }

    /**
     * Ages whose slots follow one another.
     *
     * @param shift slot of an age, less the age
     * @param state place of the first unit in the first slot
     * @param weights place of the first unit's weight for the oldest
     */
    private record Run(Expr begin, Expr end, Expr shift, Expr state, Expr weights) {}

    private void weigh(BlockBuilder block, Buffer times, List<Expr.Var> sums, Run run) {
        block.loop("age", run.begin, run.end, (inner, age) -> {
            Expr from = inner.let("from", add(run.state, mul(add(age, run.shift), shape.filters())));
            Expr by = inner.let("by", add(run.weights, mul(age, shape.filters())));
            for (int i = 0; i < sums.size(); i++) {
                Expr value = load(state, add(from, i));
                Expr centred = isFloat ? value : sub(value, imm(svdf.stateZeroPoint()));
                Expr product = mul(wrapping(load(times, add(by, i))), wrapping(centred));
                inner.assign(sums.get(i), add(sums.get(i), product));
            }
        });
    }

    /** An accumulator that wraps around: those of products of two int16 do so in the reference kernel, but in C only unsigned numbers may. */
    private Expr wrapping(Expr value) {
        return state.dtype() == DType.INT16 ? Exprs.cast(DType.UINT32, value) : value;
    }

    private Expr limited(Expr sum, int multiplier, int zeroPoint, Buffer to) {
        QuantizedMultiplier by = shape.multiplier(op, multiplier);
        Expr rescaled = new Expr.Call(Intrinsics.RESCALE_ANY, List.of(sum, imm(by.multiplier()), imm(by.shift())));
        Expr shifted = RequantizeCalls.plus(rescaled, zeroPoint, RequantizeCalls.largest(by, Integer.MAX_VALUE));
        DType dtype = to.dtype();
        return new Expr.Call(Intrinsics.CLAMP, List.of(shifted, imm(dtype.min()), imm(dtype.max())));
    }

    /**
     * A step of {@link Svdf} with int8 data and an int16 state by {@link SumKernels}: all features as words of scratch, which
     * become the newest row of the ring; then the sums down the ring's columns, which become the results.
     */
    private static final class SvdfKernels {
        private final FusedOperator op;
        private final Svdf svdf;
        private final SumKernels kernels;
        private final SumKernels.Dots dots;
        private final SvdfShape shape;
        private final QuantizedMultiplier feature;
        private final QuantizedMultiplier result;
        private final long bound;

        private SvdfKernels(FusedOperator op, SumKernels kernels, SumKernels.Dots dots, long bound) {
            this.op = op;
            this.svdf = (Svdf) op.root().op();
            this.kernels = kernels;
            this.dots = dots;
            this.shape = SvdfShape.of(op);
            this.feature = shape.multiplier(op, Svdf.FEATURE);
            this.result = shape.multiplier(op, Svdf.RESULT);
            this.bound = bound;
        }

        /** The kernels, if the operator's types and constants suit them. */
        static Optional<SvdfKernels> of(FusedOperator op, SumKernels kernels) {
            Svdf svdf = (Svdf) op.root().op();
            SvdfShape shape = SvdfShape.of(op);
            boolean suits = op.type().dtype() == DType.INT8
                    && op.rootTypes().get(Svdf.STATE).dtype() == DType.INT16
                    && op.clip().isEmpty()
                    && op.requantization().isEmpty()
                    && svdf.stateZeroPoint() == 0
                    && kernels.takesColumns(shape.units())
                    && SumKernels.takes(shape.multiplier(op, Svdf.RESULT), 0);
            if (!suits) {
                return Optional.empty();
            }
            Constant weights = op.root().constant(1);
            long bound = IntStream.range(0, shape.filters())
                    .mapToLong(f -> bound(weights, svdf, f, shape.inputs()))
                    .max()
                    .orElse(0);
            long least = IntStream.range(0, weights.elements())
                    .mapToLong(weights::integer)
                    .min()
                    .orElse(0);
            return kernels.dots(bound, least)
                    .filter(dots -> SumKernels.takes(shape.multiplier(op, Svdf.FEATURE), bound))
                    .map(dots -> new SvdfKernels(op, kernels, dots, bound));
        }

        /** Largest magnitude of a filter's accumulator, with the zero point folded. */
        private static long bound(Constant weights, Svdf svdf, int filter, int inputs) {
            long sum = 0;
            long magnitude = 0;
            for (int i = filter * inputs; i < (filter + 1) * inputs; i++) {
                sum += weights.integer(i);
                magnitude += Math.abs(weights.integer(i));
            }
            return Math.abs(svdf.inputZeroPoint() * sum) - DType.INT8.min() * magnitude;
        }

        private long weight(int filter, int input) {
            return op.root().constant(1).integer(filter * shape.inputs() + input);
        }

        /** The zero point times the weights: the initial value of a filter's accumulator. */
        private long begin(int filter) {
            return -svdf.inputZeroPoint()
                    * IntStream.range(0, shape.inputs())
                            .mapToLong(i -> weight(filter, i))
                            .sum();
        }

        private int begins(int place) {
            return place < shape.filters() ? (int) begin(shape.filter(place)) : 0;
        }

        void emit(BlockBuilder body, Expr slot, Tables tables, OperatorBuffers buffers) {
            int padded = (shape.filters() + dots.rows() - 1) / dots.rows() * dots.rows();
            int columns = kernels.paddedColumns(shape.units());
            Buffer sums = buffers.scratch(DType.INT32, Math.max(padded, columns));
            Buffer state = buffers.argument(Svdf.STATE);
            SumKernels.Block rows = new SumKernels.Block(
                    tables.add("features", DType.INT8, dots.pack(padded, shape.inputs(), this::packed, this::begins)),
                    imm(0),
                    padded,
                    shape.inputs());
            SumKernels.Ring ring = ring(tables, columns, oldest(body, slot));
            SumKernels.Requantizer features = kernels.rescaler(
                    new Group(Sums.DOTS, Result.SHORT, List.of(feature), bound, 0), tables, "feature_by");
            SumKernels.Requantizer results = kernels.rescaler(
                    new Group(Sums.WORDS, Result.BYTE, List.of(result), ofColumns(), svdf.outputZeroPoint()),
                    tables,
                    "result_by");
            body.loop("b", shape.batch(), (block, b) -> {
                dots.emit(block, rows, buffers.argument(0), mul(b, shape.inputs()), sums);
                Expr first = block.let("first", mul(b, (long) shape.memory() * shape.filters()));
                Expr newest = add(first, mul(slot, shape.filters()));
                features.emit(block, shape.filters(), sums, block.mutableView("newest", state, newest));
                kernels.columns(block, ring, block.view("ring", state, first), sums);
                results.emit(
                        block,
                        shape.units(),
                        sums,
                        block.mutableView("results", buffers.output(), mul(b, shape.units())));
            });
        }

        /** The ring's oldest row, which follows the newest slot. */
        private Expr oldest(BlockBuilder body, Expr slot) {
            Expr next = add(slot, 1);
            return body.let("oldest", mul(select(Exprs.lt(next, imm(shape.memory())), next, imm(0)), shape.rank()));
        }

        private long packed(int place, int input) {
            return place < shape.filters() ? weight(shape.filter(place), input) : 0;
        }

        private SumKernels.Ring ring(Tables tables, int padded, Expr oldest) {
            Constant times = op.root().constant(2);
            Constant bias = op.root().constant(3);
            int rows = shape.memory() * shape.rank();
            return new SumKernels.Ring(
                    tables.add("times", DType.INT16, kernels.packColumns(rows, shape.units(), (row, unit) -> {
                        int filter = unit * shape.rank() + row % shape.rank();
                        return times.integer(filter * shape.memory() + row / shape.rank());
                    })),
                    tables.add(
                            "bias",
                            DType.INT32,
                            IntStream.range(0, padded)
                                    .map(unit -> unit < shape.units() ? (int) bias.integer(unit) : 0)
                                    .toArray()),
                    shape.units(),
                    oldest,
                    rows);
        }

        /** Largest magnitude of a unit's accumulator over the ring. */
        private long ofColumns() {
            Constant times = op.root().constant(2);
            int width = shape.rank() * shape.memory();
            long most = 0;
            for (int unit = 0; unit < shape.units(); unit++) {
                long magnitude = 0;
                for (int i = unit * width; i < (unit + 1) * width; i++) {
                    magnitude += Math.abs(times.integer(i));
                }
                most = Math.max(most, Math.abs(op.root().constant(3).integer(unit)) - DType.INT16.min() * magnitude);
            }
            return Math.min(most, 1L << (Integer.SIZE - 1));
        }
    }

    /** The sizes of a {@link Svdf}, and its weights in the order of the ring: filters as (rank, units). */
    private record SvdfShape(int batch, int inputs, int rank, int units, int memory) {
        static SvdfShape of(FusedOperator op) {
            int rank = ((Svdf) op.root().op()).rank();
            return new SvdfShape(
                    op.type().shape().dim(0),
                    op.rootTypes().get(1).shape().dim(1),
                    rank,
                    op.rootTypes().get(1).shape().dim(0) / rank,
                    op.rootTypes().get(2).shape().dim(1));
        }

        int filters() {
            return rank * units;
        }

        long macs() {
            return (long) batch * filters() * (inputs + memory);
        }

        /** The filter among the weights that is at a place of a slot. */
        int filter(int place) {
            return place % units * rank + place / units;
        }

        QuantizedMultiplier multiplier(FusedOperator op, int argument) {
            return new QuantizedMultiplier((int) op.root().constant(argument).integer(0), (int)
                    op.root().constant(argument + 1).integer(0));
        }

        /** Feature weights in the order of a slot. */
        Bytes byRank(Constant weights) {
            int width = inputs * weights.type().dtype().bytes();
            byte[] data = new byte[filters() * width];
            for (int place = 0; place < filters(); place++) {
                weights.data().buffer().get(filter(place) * width, data, place * width, width);
            }
            return Bytes.wrap(data);
        }

        /** Time weights by age, then in the order of a slot. */
        Bytes byAge(Constant weights) {
            int width = weights.type().dtype().bytes();
            byte[] data = new byte[filters() * memory * width];
            for (int i = 0; i < filters() * memory; i++) {
                int from = filter(i % filters()) * memory + i / filters();
                weights.data().buffer().get(from * width, data, i * width, width);
            }
            return Bytes.wrap(data);
        }
    }
}
