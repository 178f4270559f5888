// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.KilnException;
import io.kiln.device.fault.FaultWatch;
import io.kiln.device.rpc.client.RemoteModule;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TimeEvaluator;
import io.kiln.device.rpc.client.TimedModel;
import io.kiln.device.rpc.client.TimedModel.RunTimes;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures models of a program with the RPC server, by its board's timer.
 *
 * @param limit for each answer of the board if none is set
 * @param limits what is set
 */
public record TimedRuns(List<TimedModel> models, Duration limit, SessionLimits limits) {
    /** Settings of a measurement: three blocks of at least 10 ms, so that a coarse timer is good enough. */
    private static final TimeEvaluator.Settings SETTINGS = new TimeEvaluator.Settings(1, 3, 10, 100);

    public TimedRuns {
        models = List.copyOf(models);
    }

    /**
     * Measures one model after another.
     *
     * @param line to the program
     * @param elf the program's ELF file, to find the place of a fault
     * @param text gets what it prints
     * @throws KilnException if the program has no RPC server, or does not answer
     */
    public List<RunTimes> over(Transport line, Path elf, Consumer<String> text) {
        FaultWatch faults = new FaultWatch(text);
        TransportTimeouts timeouts = TransportTimeouts.of(limits, line.ownsProgram(), limit);
        try (RpcClient client = RpcClient.connect(line, timeouts, log -> text.accept(log + "\n"), faults)) {
            RemoteModule library = client.systemLibrary();
            return models.stream()
                    .map(model -> model.measure(client, library, SETTINGS))
                    .toList();
        } catch (KilnException e) {
            throw line.explained(faults.explained(e, elf));
        }
    }
}
