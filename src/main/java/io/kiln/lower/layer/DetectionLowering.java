// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.ir.arith.DetectionBoxes.COORDINATES;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.and;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.gt;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.lt;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.or;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;
import java.util.List;
import java.util.function.BinaryOperator;

/**
 * Lowers the selection of an object detector's boxes. Scratch holds the decoded boxes and for each a score while it can be
 * selected; nothing is sorted, because the best remaining box is searched each time.
 */
final class DetectionLowering {
    private static final Expr NONE = imm(-1);

    private final FusedOperator op;
    private final DetectionPostprocess detection;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final BlockBuilder body = new BlockBuilder();
    private final DetectedBoxes boxes;
    private final Buffer scores;

    /** Elements of the scores of one box, and where those of the classes begin among them. */
    private final int stride;

    private final int background;

    DetectionLowering(FusedOperator op) {
        this.op = op;
        this.detection = (DetectionPostprocess) op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
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
        List<RowDependency> dependencies = op.inputs().stream()
                .<RowDependency>map(id -> new RowDependency.All(1))
                .toList();
        String schedule = detection.regular() ? "class by class" : "best class";
        return Nests.operator(op, buffers, tables, rows, dependencies, body.build(), schedule);
    }

    private Expr score(Expr box, Expr label) {
        return load(scores, add(add(mul(box, stride), label), background));
    }

    private void fast(Expr.Var count) {
        body.add(new Stmt.Comment("the best score of each box"));
        boxes.enter(body, (block, box) -> {
            Expr.Var best = block.mutable("best", score(box, imm(0)));
            block.loop("c", imm(1), imm(detection.classes()), 1, (inner, label) -> {
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
        block.loop("c", imm(0), imm(detection.classes()), 1, (inner, c) -> {
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
}
