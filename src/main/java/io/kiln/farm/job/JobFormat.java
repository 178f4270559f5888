// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.device.rpc.client.TimedModel.Graph;
import io.kiln.device.rpc.client.TimedModel.Input;
import io.kiln.farm.job.FarmTask.Call;
import io.kiln.farm.job.FarmTask.Count;
import io.kiln.farm.job.FarmTask.Flash;
import io.kiln.farm.job.FarmTask.Listen;
import io.kiln.farm.job.FarmTask.Profile;
import io.kiln.farm.job.FarmTask.Run;
import io.kiln.farm.job.FarmTask.Time;
import io.kiln.farm.job.FarmTask.Trace;
import java.time.Duration;

/**
 * The binary form of jobs: {@code KILNJOB1}, id, board, whether on a board, limit in milliseconds, image, kind of the task and its fields, in the order of the
 * records' components. The number of a kind stays what it is, as in {@link ResultFormat}.
 */
public final class JobFormat {
    private static final long FORM = 0x4b494c4e4a4f4231L;

    private static final int LAST_KIND = 6;

    private JobFormat() {}

    public static Bytes write(FarmJob job) {
        WireWriter out = new WireWriter()
                .number(FORM)
                .text(job.id())
                .text(job.board())
                .flag(job.place() == RunPlace.BOARD)
                .number(job.limit().toMillis())
                .bytes(job.image());
        if (job.task() instanceof Run run) {
            out.number(0).list(run.calls(), call -> out.number(call.model()).list(call.inputs(), out::bytes));
        } else if (job.task() instanceof Count count) {
            out.number(1).list(count.functions(), out::text).text(count.told());
        } else if (job.task() instanceof Profile profile) {
            out.number(2)
                    .text(profile.model())
                    .list(profile.operators(), out::text)
                    .list(profile.inputs(), out::bytes)
                    .flag(profile.withBlocks());
        } else if (job.task() instanceof Trace trace) {
            out.number(4)
                    .list(trace.functions(), out::text)
                    .list(trace.instructions(), count -> out.number(count))
                    .text(trace.end());
        } else if (job.task() instanceof Listen listen) {
            out.number(5).text(listen.prefix()).number(listen.lines());
        } else if (job.task() instanceof Time time) {
            out.number(LAST_KIND).list(time.models(), model -> timed(out, model));
        } else {
            out.number(3);
        }
        return out.content();
    }

    private static void timed(WireWriter out, TimedModel model) {
        out.text(model.name())
                .list(model.inputs(), input -> out.text(input.name()).bytes(input.value()))
                .list(
                        model.graph().stream().toList(),
                        graph -> out.bytes(graph.file()).bytes(graph.parameters()));
    }

    /**
     * Reads a job.
     *
     * @throws io.kiln.base.KilnException if the bytes are not a job, or one of its parts is out of its range
     */
    public static FarmJob read(Bytes content) {
        WireReader in = new WireReader(content);
        in.form(FORM, "a job");
        String id = in.text();
        String board = in.text();
        RunPlace place = in.flag() ? RunPlace.BOARD : RunPlace.EMULATOR;
        Duration limit = Duration.ofMillis(in.number(Integer.MAX_VALUE));
        Bytes image = in.bytes();
        FarmTask task = task(in);
        in.end();
        return new FarmJob(id, board, place, limit, image, task);
    }

    private static FarmTask task(WireReader in) {
        return switch (in.number(LAST_KIND)) {
            case 0 -> new Run(in.list(() -> new Call(in.number(Integer.MAX_VALUE), in.list(in::bytes))));
            case 1 -> new Count(in.list(in::text), in.text());
            case 2 -> new Profile(in.text(), in.list(in::text), in.list(in::bytes), in.flag());
            case 3 -> new Flash();
            case 4 -> new Trace(in.list(in::text), in.list(() -> in.number()), in.text());
            case 5 -> new Listen(in.text(), in.number(Listen.MOST_LINES));
            default -> new Time(in.list(() -> timed(in)));
        };
    }

    private static TimedModel timed(WireReader in) {
        return new TimedModel(
                in.text(),
                in.list(() -> new Input(in.text(), in.bytes())),
                in.list(() -> new Graph(in.bytes(), in.bytes())).stream().findFirst());
    }
}
