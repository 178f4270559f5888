// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.ir.arith.DetectionBoxes.COORDINATES;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.ge;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.max;
import static io.kiln.tir.Exprs.min;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.or;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.type.Shape;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;

/**
 * Lowers the selection of an object detector's boxes. Scratch holds the decoded boxes and for each a score while it can be
 * selected; nothing is sorted, because the best remaining box is searched each time.
 */
public final class DetectionLowering extends RootLowering {
    private static final Expr NONE = imm(-1);

    private final DetectionPostprocess detection;
    private final BlockBuilder body = new BlockBuilder();
    private final DetectedBoxes boxes;
    private final Buffer scores;

    /** Elements of the scores of one box, and where those of the classes begin among them. */
    private final int stride;

    private final int background;

    DetectionLowering(FusedOperator op) {
        super(op);
        this.detection = (DetectionPostprocess) op.root().op();
        this.scores = buffers.argument(1);
        this.stride = op.rootTypes().get(1).shape().dim(2);
        this.background = stride - detection.classes();
        this.boxes = new DetectedBoxes(detection, op.rootTypes().get(0).shape(), buffers, body);
    }

    LoweredOperator lower(Rows rows) {
        boxes.decode(body, buffers.argument(0), buffers.argument(2));
        body.loop("i", detection.count(), (block, i) -> block.store(buffers.output(), i, imm(0.0f)));
        Expr.Var count = body.mutable("count", imm(0));
        if (detection.regular()) {
            regular(count);
        } else {
            fast(count);
        }
        body.store(buffers.output(), imm(detection.count()), Exprs.cast(DType.FLOAT32, count));
        String schedule = detection.regular() ? "class by class" : "best class";
        return Nests.single(buffers, rows, body.build(), schedule);
    }

    private Expr score(Expr box, Expr label) {
        return load(scores, add(add(mul(box, stride), label), background));
    }

    private void fast(Expr.Var count) {
        body.add(new Stmt.Comment("the best score of each box"));
        boxes.enter(body, (block, box) -> {
            Expr.Var best = block.mutable("best", score(box, imm(0)));
            block.loop("c", imm(1), imm(detection.classes()), (inner, label) -> {
                Expr score = inner.let("score", score(box, label));
                inner.ifThen(gt(score, best), better -> better.assign(best, score));
            });
            return best;
        });
        body.loop(
                "n",
                detection.chosenAtMost(),
                (block, n) -> boxes.choose(block, (chosen, box, score) -> {
                    list(chosen, box, mul(n, detection.maxClassesPerDetection()));
                    chosen.assign(count, add(count, 1));
                }));
    }

    /** Lists a box with its best classes, the first of equals first. */
    private void list(BlockBuilder block, Expr box, Expr firstPlace) {
        int listed = Math.min(detection.maxClassesPerDetection(), detection.classes());
        if (listed == 1) {
            bestClass(block, box, firstPlace, (label, value) -> imm(1, DType.BOOL));
            return;
        }
        Expr.Var last = block.mutable("last", NONE);
        Expr.Var limit = block.mutable("limit", imm(0.0f));
        block.loop("k", listed, (inner, k) -> {
            List<Expr.Var> best = bestClass(inner, box, add(firstPlace, k), (label, value) -> {
                Expr follows = or(lt(value, limit), and(equal(value, limit), gt(label, last)));
                return or(equal(k, imm(0)), follows);
            });
            inner.assign(last, best.get(0));
            inner.assign(limit, best.get(1));
        });
    }

    /**
     * Lists a box with the best of its classes that satisfies a condition on class and score; returns class and score.
     */
    private List<Expr.Var> bestClass(BlockBuilder block, Expr box, Expr place, BinaryOperator<Expr> condition) {
        Expr.Var label = block.mutable("label", NONE);
        Expr.Var score = block.mutable("score", imm(DetectedBoxes.GONE));
        block.loop("c", imm(0), imm(detection.classes()), (inner, c) -> {
            Expr value = inner.let("value", score(box, c));
            Expr better = or(lt(label, imm(0)), gt(value, score));
            inner.ifThen(
                    and(condition.apply(c, value), better),
                    then -> then.assign(label, c).assign(score, value));
        });
        store(block, box, block.let("place", place), label, score);
        return List.of(label, score);
    }

    private void store(BlockBuilder block, Expr box, Expr place, Expr label, Expr score) {
        Buffer output = buffers.output();
        boxes.copy(block, output, place, box);
        block.store(output, add(place, detection.firstClass()), Exprs.cast(DType.FLOAT32, label));
        block.store(output, add(place, detection.firstScore()), score);
    }

    private void regular(Expr.Var count) {
        body.loop("c", detection.classes(), (block, label) -> {
            boxes.enter(block, (inner, box) -> score(box, label));
            block.loop(
                    "n",
                    detection.chosenAtMost(),
                    (each, n) -> boxes.choose(each, (chosen, box, score) -> insert(chosen, count, box, label, score)));
        });
    }

    /** Inserts a box after all that are as good; the last one is dropped if there are too many. */
    private void insert(BlockBuilder block, Expr.Var count, Expr box, Expr label, Expr score) {
        Buffer output = buffers.output();
        int most = detection.maxDetections();
        Expr isRoom = lt(count, imm(most));
        Expr worst = load(output, imm(detection.firstScore() + most - 1L));
        block.ifThen(or(isRoom, gt(score, worst)), then -> {
            Expr.Var place = then.mutable("place", Exprs.select(isRoom, count, imm(most - 1L)));
            Expr before = sub(place, imm(1));
            Expr isBetter = lt(load(output, add(before, detection.firstScore())), score);
            BlockBuilder move = new BlockBuilder();
            moveBack(move, place);
            then.add(new Stmt.While(and(gt(place, imm(0)), isBetter), move.build()));
            store(then, box, place, label, score);
            then.ifThen(isRoom, one -> one.assign(count, add(count, 1)));
        });
    }

    /** Moves the previous detection to a position. */
    private void moveBack(BlockBuilder block, Expr.Var place) {
        Buffer output = buffers.output();
        for (int i = 0; i < COORDINATES; i++) {
            Expr to = add(mul(place, COORDINATES), i);
            block.store(output, to, load(output, sub(to, imm(COORDINATES))));
        }
        for (int first : new int[] {detection.firstClass(), detection.firstScore()}) {
            block.store(output, add(place, first), load(output, add(place, first - 1L)));
        }
        block.assign(place, sub(place, imm(1)));
    }

    /**
     * A detector's boxes in scratch, see {@link io.kiln.ir.arith.DetectionBoxes}, each with its score while it can be
     * selected.
     */
    public static final class DetectedBoxes {
        /** The score of a box that is excluded. */
        static final float GONE = -Float.MAX_VALUE;

        /** {@link io.kiln.ir.arith.DetectionBoxes#exp}. */
        public static final Intrinsic EXP =
                Intrinsic.inFile("portable/kiln_exp", List.of(DType.FLOAT32), DType.FLOAT32);

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
                    Expr offset =
                            div(load(encodings, from), imm(detection.scales().get(axis)));
                    Expr growth = div(
                            load(encodings, add(from, 2)),
                            imm(detection.scales().get(axis + 2)));
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
                            mul(
                                    shared(then, "shared_height", own, other, 0),
                                    shared(then, "shared_width", own, other, 1)));
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
}
