// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.base.Bytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An STM32F405 as one owns it: what outlives power is its flash. It has power while a {@link VirtualProbe} is attached, and starts anew
 * with each; option bytes are those of the factory, but for the faults of that start.
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

    /** A chip with this content. */
    public static VirtualChip of(FlashContent content) {
        return new VirtualChip(content.bytes().toArray(), Optional.empty());
    }

    /**
     * A chip whose flash is a file: read now, written whenever a probe is closed. Without the file the flash is erased.
     *
     * @throws io.kiln.base.KilnException if the file is there and is not such a content
     */
    public static VirtualChip storedIn(Path file) {
        FlashContent content = Files.exists(file) ? FlashContent.load(file) : FlashContent.erased();
        return new VirtualChip(content.bytes().toArray(), Optional.of(file));
    }

    /** What the flash holds now. Between two exchanges of an attached probe it may be half programmed. */
    public FlashContent flash() {
        synchronized (flash) {
            return new FlashContent(Bytes.copyOf(flash));
        }
    }

    /** The chip, powered up. All use of it must hold the lock {@link #lock}. */
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
