// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.arith.ResizeCoordinates;
import io.kiln.ir.op.layer.OnnxLayers.OnnxResize2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RootLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;

/** Resized images, NHWC: tables hold the source rows and columns. */
final class ResizeLowering extends RootLowering {
    private final Epilogue epilogue;
    private final Resize2d root;
    private final Shape in;
    private final Shape out;

    /** One dimension: the pixels before and after, and the distance from the first. */
    private record Axis(Buffer lower, Buffer upper, Buffer fraction) {}

    ResizeLowering(FusedOperator op) {
        super(op);
        this.epilogue = new Epilogue(op, Integer.MAX_VALUE, buffers.tables());
        this.root = (Resize2d) op.root().op();
        this.in = op.rootTypes().get(0).shape();
        this.out = op.type().shape();
    }

    LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        Axis vertical = axis("row", in.dim(1), root.height());
        Axis horizontal = axis("column", in.dim(2), root.width());
        rows.eachLine(body, out, (row, n, y) -> {
            Expr line = row.let("line", mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)));
            row.loop("x", out.dim(2), (column, x) -> {
                Expr to = column.let("to", mul(add(line, x), out.dim(3)));
                if (root.linear()) {
                    linear(column, n, y, x, to, vertical, horizontal);
                } else {
                    Expr from = at(n, load(vertical.lower, y), load(horizontal.lower, x));
                    nearest(column, column.let("from", from), to);
                }
            });
        });
        return Nests.operator(
                buffers,
                rows,
                List.of(new RowDependency.All(Rows.count(in))),
                body.build(),
                root.linear() ? "linear" : "nearest");
    }

    private Axis axis(String name, int from, int to) {
        ResizeCoordinates c = new ResizeCoordinates(from, to, root.alignCorners(), root.halfPixelCenters());
        DType index = Math.max(from, to) <= Short.MAX_VALUE ? DType.INT16 : DType.INT32;
        if (!root.linear()) {
            Buffer nearest = buffers.tables().add(name, index, c.nearest());
            return new Axis(nearest, nearest, nearest);
        }
        int[] lower = new int[to];
        int[] upper = new int[to];
        int[] fraction = new int[to];
        float[] real = new float[to];
        boolean isFloat = op.type().dtype().isFloat();
        for (int i = 0; i < to; i++) {
            lower[i] = isFloat ? c.realLower(i) : c.lower()[i];
            upper[i] = isFloat ? c.realUpper(i) : c.upper()[i];
            fraction[i] = isFloat ? 0 : c.positions()[i] - ResizeCoordinates.ONE * lower[i];
            real[i] = c.realPosition(i) - lower[i];
        }
        Bytes reals = Constant.vector(real).data();
        return new Axis(
                buffers.tables().add(name, index, lower),
                buffers.tables().add("next_" + name, index, upper),
                isFloat
                        ? buffers.tables().add("part_" + name, DType.FLOAT32, reals)
                        : buffers.tables().add("part_" + name, DType.INT32, fraction));
    }

    /** Position of the first channel of an input pixel. */
    private Expr at(Expr n, Expr row, Expr column) {
        return mul(add(mul(add(mul(n, in.dim(1)), row), in.dim(2)), column), in.dim(3));
    }

    private void nearest(BlockBuilder block, Expr from, Expr to) {
        block.loop("c", out.dim(3), (channel, c) -> {
            Expr value = load(buffers.argument(0), add(from, c));
            if (op.clip().isEmpty()) {
                channel.store(buffers.output(), add(to, c), value);
            } else {
                epilogue.store(channel, "_out", value, c, buffers.output(), add(to, c));
            }
        });
    }

    private void linear(BlockBuilder block, Expr n, Expr y, Expr x, Expr to, Axis vertical, Axis horizontal) {
        Expr top = block.let("top", load(vertical.lower, y));
        Expr bottom = block.let("bottom", load(vertical.upper, y));
        Expr left = block.let("left", load(horizontal.lower, x));
        Expr right = block.let("right", load(horizontal.upper, x));
        Expr fy = block.let("fy", load(vertical.fraction, y));
        Expr fx = block.let("fx", load(horizontal.fraction, x));
        boolean isFloat = op.type().dtype().isFloat();
        Expr one = isFloat ? imm(1.0f) : imm(ResizeCoordinates.ONE);
        Expr gy = block.let("gy", sub(one, fy));
        Expr gx = block.let("gx", sub(one, fx));
        Expr a = block.let("a", at(n, top, left));
        Expr b = block.let("b", at(n, bottom, left));
        Expr c = block.let("c", at(n, top, right));
        Expr d = block.let("d", at(n, bottom, right));
        block.loop("i", out.dim(3), (channel, i) -> {
            Expr sum = add(
                    add(
                            add(weighted(a, i, gy, gx, isFloat), weighted(b, i, fy, gx, isFloat)),
                            weighted(c, i, gy, fx, isFloat)),
                    weighted(d, i, fy, fx, isFloat));
            Expr value = isFloat ? sum : rounded(channel.let("sum", sum));
            epilogue.store(channel, "_out", value, i, buffers.output(), add(to, i));
        });
    }

    private Expr weighted(Expr pixel, Expr channel, Expr row, Expr column, boolean isFloat) {
        Expr value = load(buffers.argument(0), add(pixel, channel));
        return isFloat ? mul(mul(value, row), column) : mul(value, mul(row, column));
    }

    /** Rounds an interpolated sum with 20 fraction bits, halves away from zero. */
    private static Expr rounded(Expr sum) {
        Expr half = imm(1 << 19);
        return Exprs.div(Exprs.select(Exprs.gt(sum, imm(0)), add(sum, half), sub(sum, half)), imm(1 << 20));
    }

    /**
     * ONNX Runtime's interpolation of bytes, without floats: a sum of 64 bits decides; where it is so close to a half that the roundings of
     * floats do, integers compute each of these.
     */
    static final class OnnxResizeLowering {
        private final FusedOperator op;
        private final Shape in;
        private final Shape out;
        private final OperatorBuffers buffers;
        private final OnnxBilinear bilinear;

        /**
         * One dimension of the result.
         *
         * @param places of the two elements of the data between which one of the result lies, the first ones first
         * @param factors their weights in fixed point
         * @param weights their weights, the bits of floats
         */
        private record OnnxAxis(int size, Buffer places, Buffer factors, Buffer weights) {}

        OnnxResizeLowering(FusedOperator op) {
            this.op = op;
            this.in = op.rootTypes().get(0).shape();
            this.out = op.type().shape();
            this.buffers = new OperatorBuffers(op);
            this.bilinear = new OnnxBilinear(
                    op.root().constant(OnnxResize2d.FROM).real(0),
                    op.root().constant(OnnxResize2d.TO).real(0),
                    (int) op.root().constant(OnnxResize2d.TO + 1).integer(0));
        }

        /** Lowers to loops over a range of rows. */
        LoweredOperator lower(Rows rows) {
            OnnxAxis vertical = axis("row", OnnxResize2d.ROWS, out.dim(1));
            OnnxAxis horizontal = axis("column", OnnxResize2d.COLUMNS, out.dim(2));
            BlockBuilder body = new BlockBuilder();
            rows.eachLine(body, out, (row, n, y) -> {
                Expr line = row.let("line", mul(add(mul(n, out.dim(1)), rows.outputLine(y)), out.dim(2)));
                Expr top = row.let("top", mul(add(mul(n, in.dim(1)), load(vertical.places, y)), in.dim(2)));
                Expr bottom = row.let(
                        "bottom", mul(add(mul(n, in.dim(1)), load(vertical.places, add(y, out.dim(1)))), in.dim(2)));
                row.loop("x", out.dim(2), (column, x) -> {
                    Expr left = column.let("left", load(horizontal.places, x));
                    Expr right = column.let("right", load(horizontal.places, add(x, out.dim(2))));
                    List<Expr> corners = List.of(
                            column.let("a", mul(add(top, left), in.dim(3))),
                            column.let("b", mul(add(top, right), in.dim(3))),
                            column.let("c", mul(add(bottom, left), in.dim(3))),
                            column.let("d", mul(add(bottom, right), in.dim(3))));
                    pixel(column, new Place(vertical, y, horizontal, x), corners, mul(add(line, x), out.dim(3)));
                });
            });
            return Nests.operator(
                    buffers, rows, List.of(new RowDependency.All(Rows.count(in))), body.build(), "linear(in single)");
        }

        /** A pixel of the result. */
        private record Place(OnnxAxis vertical, Expr y, OnnxAxis horizontal, Expr x) {
            /** The product of the weights of a column and a row, with the ratio of the scales. */
            Expr weight(BlockBuilder block, String name, boolean isRight, boolean isLower) {
                Expr column = load(horizontal.factors, isRight ? add(x, horizontal.size) : x);
                Expr row = load(vertical.factors, isLower ? add(y, vertical.size) : y);
                Expr product = mul(cast(DType.INT64, column), cast(DType.INT64, row));
                return block.let(name, shr(product, imm(OnnxBilinear.COLUMN_BITS)));
            }

            /** The weights as bits of floats: right, left, lower, upper. */
            List<Expr> singles() {
                return List.of(
                        word(load(horizontal.weights, add(x, horizontal.size))),
                        word(load(horizontal.weights, x)),
                        word(load(vertical.weights, add(y, vertical.size))),
                        word(load(vertical.weights, y)));
            }
        }

        private static Expr word(Expr bits) {
            return cast(DType.UINT32, bits);
        }

        private OnnxAxis axis(String name, int position, int size) {
            Constant places = op.root().constant(position);
            Constant weights = op.root().constant(position + 1);
            int[] place = new int[2 * size];
            int[] factor = new int[2 * size];
            int[] bits = new int[2 * size];
            int most = 0;
            for (int i = 0; i < place.length; i++) {
                float weight = weights.real(i);
                place[i] = (int) places.integer(i);
                most = Math.max(most, place[i]);
                factor[i] =
                        position == OnnxResize2d.ROWS ? bilinear.rowFactor(weight) : OnnxBilinear.columnFactor(weight);
                bits[i] = Float.floatToIntBits(weight);
            }
            return new OnnxAxis(
                    size,
                    buffers.tables().add(name + "s", most <= Short.MAX_VALUE ? DType.INT16 : DType.INT32, place),
                    buffers.tables().add(name + "_factors", DType.INT32, factor),
                    buffers.tables().add(name + "_weights", DType.INT32, bits));
        }

        private void pixel(BlockBuilder block, Place place, List<Expr> corners, Expr to) {
            List<Expr> weights = List.of(
                    place.weight(block, "wa", false, false),
                    place.weight(block, "wb", true, false),
                    place.weight(block, "wc", false, true),
                    place.weight(block, "wd", true, true));
            Expr first = block.let("to", to);
            Expr zero = imm(op.root().constant(OnnxResize2d.FROM + 1).integer(0));
            block.loop("i", out.dim(3), (channel, i) -> {
                List<Expr> bytes = new ArrayList<>();
                Expr sum = imm(1L << (bilinear.fractionBits() - 1), DType.INT64);
                for (int k = 0; k < corners.size(); k++) {
                    Expr value = load(buffers.argument(0), add(corners.get(k), i));
                    bytes.add(channel.let("x" + k, sub(cast(DType.INT32, value), zero)));
                    sum = add(sum, mul(weights.get(k), cast(DType.INT64, bytes.get(k))));
                }
                Expr exact = channel.let("exact", sum);
                Expr.Var result =
                        channel.mutable("result", cast(DType.INT32, shr(exact, imm(bilinear.fractionBits()))));
                channel.ifThen(isDoubtful(exact), in -> in.assign(result, inSinglePrecision(place, bytes)));
                Expr value = channel.let("value", add(result, bilinear.zeroPoint()));
                Expr limited =
                        Exprs.max(channel.let("limited", Exprs.min(value, imm(Byte.MAX_VALUE))), imm(Byte.MIN_VALUE));
                channel.store(buffers.output(), add(first, i), cast(DType.INT8, limited));
            });
        }

        private Expr isDoubtful(Expr exact) {
            Expr doubt = imm(bilinear.doubt(), DType.INT64);
            Expr mask = imm((1L << bilinear.fractionBits()) - 1, DType.INT64);
            return Exprs.le(Exprs.bitAnd(add(exact, doubt), mask), mul(doubt, imm(2, DType.INT64)));
        }

        private Expr inSinglePrecision(Place place, List<Expr> bytes) {
            List<Expr> arguments = new ArrayList<>(bytes);
            arguments.addAll(place.singles());
            arguments.add(imm(Float.floatToIntBits(bilinear.from()), DType.UINT32));
            arguments.add(imm(Float.floatToIntBits(bilinear.to()), DType.UINT32));
            return new Expr.Call(SingleIntrinsics.BILINEAR, arguments);
        }
    }
}
