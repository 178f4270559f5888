// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Failure;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.ExecutedBlock;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.emulator.FunctionCounter;
import io.kiln.device.emulator.FunctionCounter.Calls;
import io.kiln.device.emulator.FunctionTrace;
import io.kiln.device.emulator.InstructionCounter;
import io.kiln.device.emulator.RunCounter.InstructionCounts;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.Conversation;
import io.kiln.device.transport.Transport;
import io.kiln.farm.job.FarmAnswer;
import io.kiln.farm.job.FarmAnswer.Call;
import io.kiln.farm.job.FarmAnswer.Counted;
import io.kiln.farm.job.FarmAnswer.Profiled;
import io.kiln.farm.job.FarmAnswer.Traced;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.job.FarmTask.Count;
import io.kiln.farm.job.FarmTask.Flash;
import io.kiln.farm.job.FarmTask.Profile;
import io.kiln.farm.job.FarmTask.Run;
import io.kiln.farm.job.FarmTask.Trace;
import io.kiln.farm.worker.JobRunner.Done;
import io.kiln.toolchain.board.Board;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Runs images of jobs in an emulator. Jobs come from strangers, so they get no semihosting and no network. */
final class EmulatorJobs {
    private final Emulator emulator;
    private final FarmJob job;
    private final Path image;

    /**
     * @param board this computer's description of the job's board, which QEMU emulates
     * @param image the job's image as a file
     */
    EmulatorJobs(Board board, FarmJob job, Path image) {
        this.emulator = Emulator.of(board.fenced(), job.limit());
        this.job = job;
        this.image = image;
    }

    Done run() {
        return new Done(emulator.name(), answer());
    }

    private FarmAnswer answer() {
        if (job.task() instanceof Run run) {
            RunCalls calls = new RunCalls(run.calls());
            try (Transport line = emulator.boot(image)) {
                return calls.over(line, new Conversation(new ConsoleProtocol(job.limit()), image, text -> {}));
            }
        }
        if (job.task() instanceof Count count) {
            return count(count);
        }
        if (job.task() instanceof Profile profile) {
            return profile(profile);
        }
        if (job.task() instanceof Trace trace) {
            return new Traced(new FunctionTrace(emulator)
                    .blocks(image, trace.functions(), trace.instructions(), trace.end(), BlockSink.NONE));
        }
        if (job.task() instanceof Flash) {
            throw Failure.FARM.exception("an emulator cannot be flashed", job.board(), "a board");
        }
        throw Failure.FARM.exception("an emulator does not measure time", job.board(), "a worker with a board");
    }

    private Counted count(Count count) {
        Calls calls = new FunctionCounter(emulator).count(image, count.functions(), count.told());
        return new Counted(
                calls.counted().stream()
                        .map(one -> new Call(one.instructions(), one.verdict()))
                        .toList(),
                calls.failure().map(Throwable::getMessage));
    }

    private Profiled profile(Profile profile) {
        InstructionCounter counter = new InstructionCounter(emulator, new ConsoleProtocol(job.limit()));
        InstructionCounts counts = counter.count(image, profile.model(), profile.operators(), profile.inputs());
        List<ExecutedBlock> blocks = profile.withBlocks()
                ? counter.blocks(image, profile.model(), profile.operators(), profile.inputs(), counts)
                : List.of();
        List<Long> operators = profile.operators().stream()
                .map(name -> Optional.ofNullable(counts.operators().get(name)).orElse(0L))
                .toList();
        return new Profiled(counts.total(), operators, counts.outputs(), blocks, counts.stackUsed());
    }
}
