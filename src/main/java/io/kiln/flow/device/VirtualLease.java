// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.transport.Transport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/** A virtual board: its flash content boots in the board's emulator. */
final class VirtualLease implements Lease {
    private final Leases wanted;
    private final VirtualBoards boards;
    private final Emulator emulator;

    private VirtualLease(Leases wanted) {
        this.wanted = wanted;
        this.boards = VirtualBoards.of(wanted.use().layout());
        this.emulator = new Emulator(
                wanted.use().board(),
                wanted.limit(),
                Optional.of(wanted.log()),
                wanted.use().semihosting());
    }

    /**
     * A lease, if the board is virtual.
     *
     * @throws KilnException if the board has no emulator
     */
    static Optional<Lease> of(Leases wanted) {
        Board board = wanted.use().board();
        Optional<String> probe = wanted.device().flash().probe();
        if (board.openOcd().filter(how -> VirtualBoards.areMeant(how, probe)).isEmpty()) {
            return Optional.empty();
        }
        if (!(board.emulation() instanceof Emulation.Qemu)) {
            throw new KilnException(Failure.DEVICE.problem(
                    "the virtual board has no emulator to boot its flash content",
                    board.origin(),
                    "emulator: {qemu: …, machine: …}",
                    ""));
        }
        return Optional.of(new VirtualLease(wanted));
    }

    private String name() {
        return boards.names(wanted.device().flash().probe()).get(0);
    }

    @Override
    public String name(Optional<Probe> probe) {
        return wanted.use().board().id() + ", probe " + name() + ": its flash content in " + emulator.name();
    }

    @Override
    public FlashRunner flashRunner() {
        return wanted.flashRunners().open();
    }

    /** Flashes before it starts the emulator, which boots the flash content. */
    @Override
    public Transport start(Runnable bring) {
        bring.run();
        Path content = boards.file(name());
        if (!Files.isRegularFile(content)) {
            throw new KilnException(Failure.DEVICE.problem(
                    "the virtual board '" + name() + "' has not been flashed yet",
                    content.toString(),
                    "its flash content",
                    "Remove kiln.flash.skip"));
        }
        return emulator.boot(content);
    }

    /** No log: the emulator writes it itself. */
    @Override
    public Consumer<String> log() {
        return text -> {};
    }

    /** Does nothing: closing the transport ends the emulator. */
    @Override
    public void close() {}
}
