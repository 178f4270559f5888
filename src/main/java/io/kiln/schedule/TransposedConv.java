// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.RowPhase;
import io.kiln.schedule.TransposedSchedule.Phase;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A transposed convolution, row by row: the rows of each {@linkplain RowPhase phase} by the loops of an ordinary convolution.
 *
 * <pre>
 * scratch: a row with the columns that are cropped, if there are any; that of the convolutions, which take turns
 * </pre>
 */
final class TransposedConv {
    private final ConvTask task;
    private final ConvComputation conv;
    private final List<Phase> phases;
    private final Buffer input;
    private final Buffer output;
    private final Optional<Buffer> row;

    /** Reserves scratch for a row that is cropped. */
    TransposedConv(ConvTask task, List<Phase> phases) {
        this.task = task;
        this.conv = task.conv();
        this.phases = phases;
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
        ConvComputation first = phases.get(0).rows().conv();
        this.row = phases.get(0).rows().isWhole(conv.output())
                ? Optional.empty()
                : Optional.of(task.buffers()
                        .scratch(output.dtype(), (long) first.output().dim(2) * first.channels()));
    }

    /** The range of one row of a phase, which is alone in its buffer. */
    static Rows row(Rows rows, Expr row) {
        return new Rows(row, add(row, 1), List.of(), rows.inputRings(), 1, false, 1);
    }

    /** The same for a known row. */
    static Rows row(Rows rows, int row) {
        return row(rows, imm(row));
    }

    /** The loops. */
    LayerLoops loops() {
        int images = conv.output().dim(0);
        BlockBuilder body = new BlockBuilder();
        List<Long> macs = new ArrayList<>();
        body.loop("image", images, (batch, n) -> {
            Buffer in = images == 1
                    ? input
                    : batch.view("image_in", input, mul(n, conv.input().elements() / images));
            for (int i = 0; i < phases.size(); i++) {
                String suffix = i == 0 ? "" : "_" + i;
                macs.add(phase(batch, new Part(phases.get(i), suffix, in), n));
            }
        });
        return new LayerLoops(
                body.build(), images * macs.stream().mapToLong(Long::longValue).sum());
    }

    /**
     * The rows of a phase.
     *
     * @param suffix of the names of its tables
     * @param in the image
     */
    private record Part(Phase phase, String suffix, Buffer in) {
        RowPhase rows() {
            return phase.rows();
        }
    }

    /** Emits a phase; the result is the number of its multiply-accumulates. */
    private long phase(BlockBuilder batch, Part part, Expr n) {
        RowPhase rows = part.rows();
        Expr begin = row(rows, task.rows().firstLine(conv.output()));
        Expr end = row(rows, task.rows().endLine(conv.output()));
        List<LayerLoops> loops = new ArrayList<>();
        batch.loop("phase_row", begin, end, 1, (block, j) -> {
            Expr y = block.let("phase_y", add(mul(j, rows.stride()), rows.first()));
            Expr line = add(mul(n, conv.output().dim(1)), task.rows().outputLine(y));
            int elements = conv.output().dim(2) * conv.channels();
            Buffer out = block.mutableView("phase_out", output, mul(line, elements));
            LayerLoops own = part.phase.choice().lower(task(part, j, row.orElse(out)));
            block.add(own.body());
            loops.add(own);
            row.ifPresent(uncropped -> {
                Buffer first = block.view("phase_in", uncropped, imm((long) rows.cropped() * conv.channels()));
                WordMoves.of(task.features()).copyUnaligned(block, out, first, elements);
            });
        });
        return loops.stream().mapToLong(LayerLoops::executedMacs).sum();
    }

    private ConvTask task(Part part, Expr j, Buffer out) {
        Workload workload =
                new Workload(part.rows().conv(), row(task.rows(), j), task.features(), part.phase.optimize());
        return new ConvTask(
                workload,
                task.tables().ofPart(part.suffix),
                task.buffers().part(part.in, out, row.stream().toList()));
    }

    /** The first row of a phase that is not before a row of the output. */
    private static Expr row(RowPhase rows, Expr y) {
        return div(add(y, rows.stride() - 1 - rows.first()), imm(rows.stride()));
    }
}
