// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.ir.arith.DetectionBoxes.COORDINATES;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.ge;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.max;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.type.Shape;
import io.kiln.lower.OperatorBuffers;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import java.util.ArrayList;
import java.util.List;

/**
 * A detector's boxes in scratch, see {@link io.kiln.ir.arith.DetectionBoxes}, each with its score while it can be
 * selected.
 */
public final class DetectedBoxes {
    /** The score of a box that is excluded. */
    static final float GONE = -Float.MAX_VALUE;

    /** {@link io.kiln.ir.arith.DetectionBoxes#exp}. */
    public static final Intrinsic EXP = Intrinsic.inFile("portable/kiln_exp", List.of(DType.FLOAT32), DType.FLOAT32);

    private final DetectionPostprocess detection;
    private final int count;
    private final int stride;
    private final Buffer boxes;
    private final Buffer candidates;

    /** The code for a selected box. */
    interface Chosen {
        void emit(BlockBuilder block, Expr box, Expr score);
    }

    /** The initial score of a box. */
    interface Score {
        Expr of(BlockBuilder block, Expr box);
    }

    /**
     * Reserves scratch for the boxes and scores of a detector.
     *
     * @param encodings shape of the encodings
     * @param buffers provide the scratch
     * @param body receives the names of its parts
     */
    DetectedBoxes(DetectionPostprocess detection, Shape encodings, OperatorBuffers buffers, BlockBuilder body) {
        this.detection = detection;
        this.count = encodings.dim(1);
        this.stride = encodings.dim(2);
        Buffer scratch = buffers.scratch(DType.FLOAT32, (COORDINATES + 1L) * count);
        this.boxes = body.mutableView("boxes", scratch, imm(0));
        this.candidates = body.mutableView("candidates", scratch, imm((long) COORDINATES * count));
    }

    /** {@link io.kiln.ir.arith.DetectionBoxes#middle} and {@link io.kiln.ir.arith.DetectionBoxes#half} of all boxes. */
    void decode(BlockBuilder body, Buffer encodings, Buffer anchors) {
        body.loop("i", count, (block, i) -> {
            for (int axis = 0; axis < 2; axis++) {
                Expr to = add(mul(i, COORDINATES), axis);
                Expr from = add(mul(i, stride), axis);
                Expr size = block.let(axis == 0 ? "height" : "width", load(anchors, add(to, 2)));
                Expr offset = div(load(encodings, from), imm(detection.scales().get(axis)));
                Expr growth = div(
                        load(encodings, add(from, 2)), imm(detection.scales().get(axis + 2)));
                Expr middle = block.let(axis == 0 ? "y" : "x", add(mul(offset, size), load(anchors, to)));
                Expr exp = new Expr.Call(EXP, List.of(growth));
                Expr half = block.let(axis == 0 ? "half_height" : "half_width", mul(mul(exp, imm(0.5f)), size));
                block.store(boxes, to, sub(middle, half));
                block.store(boxes, add(to, 2), add(middle, half));
            }
        });
    }

    /** Admits the boxes whose score is high enough. */
    void enter(BlockBuilder body, Score score) {
        body.loop("i", count, (block, i) -> {
            Expr value = block.let("value", score.of(block, i));
            Expr isEnough = ge(value, imm(detection.scoreThreshold()));
            block.store(candidates, i, select(isEnough, value, imm(GONE)));
        });
    }

    /**
     * Selects the best remaining box, the first of equals, if there is one; removes it and those that overlap it too
     * much.
     */
    void choose(BlockBuilder body, Chosen chosen) {
        Expr.Var found = body.mutable("found", imm(-1));
        Expr.Var best = body.mutable("best", imm(GONE));
        body.loop("i", count, (block, i) -> {
            Expr value = block.let("value", load(candidates, i));
            block.ifThen(gt(value, best), then -> then.assign(best, value).assign(found, i));
        });
        body.ifThen(ge(found, imm(0)), then -> {
            then.store(candidates, found, imm(GONE));
            suppress(then, found);
            chosen.emit(then, found, best);
        });
    }

    private void suppress(BlockBuilder body, Expr chosen) {
        List<Expr> own = corners(body, "", chosen);
        Expr area = body.let("area", area(own));
        body.loop("i", count, (block, i) -> {
            Expr isCandidate = gt(load(candidates, i), imm(GONE));
            block.ifThen(isCandidate, then -> {
                List<Expr> other = corners(then, "_i", i);
                Expr otherArea = then.let("area_i", area(other));
                Expr shared = then.let(
                        "shared",
                        mul(shared(then, "shared_height", own, other, 0), shared(then, "shared_width", own, other, 1)));
                Expr overlap = div(shared, sub(add(area, otherArea), shared));
                Expr isTooMuch = gt(overlap, imm(detection.iouThreshold()));
                Expr haveArea = and(gt(area, imm(0.0f)), gt(otherArea, imm(0.0f)));
                then.ifThen(and(haveArea, isTooMuch), gone -> gone.store(candidates, i, imm(GONE)));
            });
        });
    }

    private List<Expr> corners(BlockBuilder block, String suffix, Expr box) {
        List<Expr> corners = new ArrayList<>();
        for (String name : List.of("top", "left", "bottom", "right")) {
            corners.add(block.let(name + suffix, load(boxes, add(mul(box, COORDINATES), corners.size()))));
        }
        return corners;
    }

    private static Expr area(List<Expr> corners) {
        return mul(sub(corners.get(2), corners.get(0)), sub(corners.get(3), corners.get(1)));
    }

    /** The length of the intersection of two boxes along an axis. */
    private static Expr shared(BlockBuilder block, String name, List<Expr> a, List<Expr> b, int axis) {
        Expr from = max(a.get(axis), b.get(axis));
        Expr to = min(a.get(axis + 2), b.get(axis + 2));
        Expr length = block.let(name, sub(to, from));
        return max(length, imm(0.0f));
    }

    /** Copies a box. */
    void copy(BlockBuilder block, Buffer to, Expr place, Expr box) {
        block.loop(
                "side",
                COORDINATES,
                (inner, side) -> inner.store(
                        to, add(mul(place, COORDINATES), side), load(boxes, add(mul(box, COORDINATES), side))));
    }
}
