// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import java.util.Optional;
import java.util.function.Consumer;

/** A board connected to this computer: flashed through a probe, with a serial port as its console. */
final class SerialLease implements Lease {
    private final Leases wanted;
    private final String port;
    private final BoardConsole line;
    private final ConsoleLog log;

    private SerialLease(Leases wanted, String port, BoardConsole line) {
        this.wanted = wanted;
        this.port = port;
        this.line = line;
        this.log = new ConsoleLog(wanted.log());
    }

    /**
     * The board whose console is the selected port.
     *
     * @throws io.kiln.base.KilnException if no port matches, or more than one
     */
    static Optional<Lease> of(Leases wanted) {
        BoardConsole console =
                new BoardConsole(wanted.use().board(), wanted.device().console());
        String port = console.portBeside(wanted.device().flash().probe());
        return Optional.of(new SerialLease(wanted, port, console));
    }

    @Override
    public String name(Optional<Probe> probe) {
        String by = probe.map(each -> ", probe " + each.text()).orElse("");
        return wanted.use().board().id() + by + ", console " + port;
    }

    @Override
    public FlashRunner flashRunner() {
        return wanted.flashRunners().open();
    }

    /** Opens the port before flashing: the flash runner resets the board at its end, and the banner follows at once. */
    @Override
    public Transport start(Runnable bring) {
        Transport console = line.open(port);
        try {
            bring.run();
            return console;
        } catch (RuntimeException e) {
            console.close();
            throw e;
        }
    }

    @Override
    public Consumer<String> log() {
        return log;
    }

    @Override
    public void close() {
        log.write();
    }
}
