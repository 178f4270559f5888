// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import io.kiln.cycles.BlockSink;
import io.kiln.cycles.ExecutedBlock;
import io.kiln.device.emulator.BlockTrace.Range;
import io.kiln.device.emulator.Counting.Entry;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One run of a model of which QEMU logs the executed blocks. QEMU's standard error feeds it from a thread of its own; the log begins at
 * the model's entry point and is ended as soon as the run has returned.
 */
final class LoggedRun {
    private final ElfFile elf;
    private final String model;
    private final List<Long> entries;
    private final BlockSink sink;
    private final NavigableMap<Long, Range> owners = new TreeMap<>();
    private volatile BlockTrace trace;

    /**
     * @param model its name
     * @param operators names of the operators' functions
     * @param entries addresses of the model's entry point
     * @param sink is told of each block; only then registers are logged
     */
    LoggedRun(ElfFile elf, String model, List<String> operators, List<Long> entries, BlockSink sink) {
        this.elf = elf;
        this.model = model;
        this.entries = entries;
        this.sink = sink;
        // The trace before the model's entry point, where nothing is logged.
        this.trace = new BlockTrace(elf, owners, 0, 0, BlockSink.NONE);
        InterfaceNames names = new InterfaceNames(model);
        own(names.run(), 0);
        own(names.main(), 0);
        for (int part = 0;
                InstructionCounter.symbols(elf, names.mainPart(part)).findAny().isPresent();
                part++) {
            own(names.mainPart(part), 0);
        }
        for (int i = 0; i < operators.size(); i++) {
            own(operators.get(i), i + 1);
        }
    }

    private void own(String function, int owner) {
        InstructionCounter.symbols(elf, function).forEach(symbol -> {
            long start = symbol.value() & ~1L;
            owners.put(start, new Range(start + symbol.size(), owner));
        });
    }

    /** Takes a line of QEMU's standard error; false if it is not part of the log. */
    boolean take(String line) {
        return trace.take(line);
    }

    /**
     * Runs the model.
     *
     * @param limit for the time of the run
     */
    List<ExecutedBlock> blocks(Counting counting, MachineMonitor monitor, List<Bytes> inputs, Duration limit) {
        return counting.at(model, entries, inputs, entry -> logged(entry, monitor, limit))
                .result();
    }

    private List<ExecutedBlock> logged(Entry entry, MachineMonitor monitor, Duration limit) {
        trace = new BlockTrace(elf, owners, entry.stop().address(), entry.stop().returnAddress(), sink);
        CompletableFuture<List<ExecutedBlock>> result = trace.result();
        entry.answer().exceptionally(failure -> {
            result.completeExceptionally(failure);
            return List.of();
        });
        monitor.logBlocks(!sink.equals(BlockSink.NONE));
        entry.resume();
        try {
            List<ExecutedBlock> blocks = result.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            monitor.logNothing();
            return blocks;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw truncated(e);
        } catch (ExecutionException | TimeoutException e) {
            throw truncated(e);
        }
    }

    private static KilnException truncated(Exception cause) {
        return new KilnException(
                Failure.PROFILE.problem("the log of executed blocks ended before the run", "QEMU", "a whole log", ""),
                cause);
    }
}
