// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Bytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An STM32F405, of which only the flash survives power loss. It has power while a {@link VirtualProbe} is attached, and
 * restarts with each; option bytes have factory values, except for the faults of that start.
 */
public final class VirtualChip {
    private final byte[] flash;
    private final Optional<Path> file;
    private final AtomicBoolean attached = new AtomicBoolean();

    private VirtualChip(byte[] flash, Optional<Path> file) {
        this.flash = flash;
        this.file = file;
    }

    /** A chip whose flash is erased. */
    public static VirtualChip erased() {
        return of(FlashContent.erased());
    }

    public static VirtualChip of(FlashContent content) {
        return new VirtualChip(content.bytes().toArray(), Optional.empty());
    }

    /**
     * A chip whose flash is a file: read now, written whenever a probe is closed. If the file is missing, the flash is
     * erased.
     *
     * @throws io.kiln.base.KilnException if the file exists but is not valid flash content
     */
    public static VirtualChip storedIn(Path file) {
        FlashContent content = Files.exists(file) ? FlashContent.load(file) : FlashContent.erased();
        return new VirtualChip(content.bytes().toArray(), Optional.of(file));
    }

    /** The current flash content. Between two exchanges of an attached probe it may be half programmed. */
    public FlashContent flash() {
        synchronized (flash) {
            return new FlashContent(Bytes.copyOf(flash));
        }
    }

    /** The chip after power-up. Every use must hold the lock {@link #lock}. */
    Stm32f405 powerUp(Faults faults) {
        if (!attached.compareAndSet(false, true)) {
            throw new IllegalStateException("the chip is attached to a probe already");
        }
        return new Stm32f405(flash, faults);
    }

    void powerDown() {
        if (attached.getAndSet(false)) {
            file.ifPresent(flash()::save);
        }
    }

    Object lock() {
        return flash;
    }
}
