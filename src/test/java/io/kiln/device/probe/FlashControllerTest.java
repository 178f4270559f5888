// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.device.probe.FlashCells.FlashSectors;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.device.probe.thumb.BusFault;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The registers as software uses them. Offsets: KEYR 4, OPTKEYR 8, SR 0xc, CR 0x10, OPTCR 0x14. */
class FlashControllerTest {
    private static final int PROGRAM_HALF_WORDS = 1 << 8 | 1;
    private static final int ERASE = 1 << 16 | 1 << 1;
    private static final int ERASE_ALL = 1 << 16 | 1 << 2;
    private static final int LOCK = 1 << 31;

    private final byte[] flash = new byte[FlashContent.SIZE];
    private FlashController controller = with(Faults.none());

    private FlashController with(Faults faults) {
        return new FlashController(new FlashCells(flash, faults), faults);
    }

    private void unlock() {
        set(0x04, 0x45670123);
        set(0x04, 0xcdef89ab);
    }

    private void set(int register, int value) {
        controller.write(FlashController.BASE + register, 4, value);
    }

    private int get(int register) {
        return controller.read(FlashController.BASE + register, 4);
    }

    @Test
    void sectorsHaveTheirSizes() {
        assertThat(IntStream.rangeClosed(0, FlashSectors.COUNT).map(FlashSectors::start))
                .containsExactly(
                        0, 0x4000, 0x8000, 0xc000, 0x10000, 0x20000, 0x40000, 0x60000, 0x80000, 0xa0000, 0xc0000,
                        0xe0000, 0x100000);
        assertThat(FlashSectors.of(0x1ffff)).isEqualTo(4);
        assertThat(FlashSectors.of(0x20000)).isEqualTo(5);
        assertThat(FlashSectors.of(0xfffff)).isEqualTo(11);
    }

    @Test
    void lockedItIgnoresControlAndKeysOpenIt() {
        set(0x10, ERASE);
        assertThat(get(0x10)).isEqualTo(LOCK);
        assertThat(flash[0]).isZero();
        unlock();
        assertThat(get(0x10)).isZero();
        set(0x10, LOCK);
        assertThat(get(0x10)).isEqualTo(LOCK);
    }

    @Test
    void aWrongKeyJamsTheLockUntilReset() {
        assertThatThrownBy(() -> set(0x04, 1)).isInstanceOf(BusFault.class);
        assertThatThrownBy(this::unlock).isInstanceOf(BusFault.class);
        controller.reset();
        unlock();
        assertThat(get(0x10)).isZero();
    }

    @Test
    void oneSectorIsErasedOrAllAre() {
        unlock();
        set(0x10, ERASE | 2 << 3);
        assertThat(flash[0x7fff]).isZero();
        assertThat(flash[0x8000]).isEqualTo((byte) -1);
        assertThat(flash[0xbfff]).isEqualTo((byte) -1);
        assertThat(flash[0xc000]).isZero();
        set(0x10, ERASE_ALL);
        assertThat(flash).containsOnly(-1);
        set(0x10, ERASE | 12 << 3);
        assertThat(get(0x0c)).isEqualTo(FlashController.PGSERR);
    }

    @Test
    void programmingClearsBitsOnly() {
        unlock();
        set(0x10, ERASE_ALL);
        set(0x10, PROGRAM_HALF_WORDS);
        controller.program(0x10, 2, 0xff0f);
        controller.program(0x10, 2, 0x0ff0);
        assertThat(flash[0x10]).isZero();
        assertThat(flash[0x11]).isEqualTo((byte) 0x0f);
        assertThat(get(0x0c)).isZero();
    }

    @Test
    void wrongProgrammingSetsItsFlagAndChangesNothing() {
        unlock();
        set(0x10, ERASE_ALL);
        assertThat(error(0, 2)).isEqualTo(FlashController.PGSERR);
        set(0x10, PROGRAM_HALF_WORDS);
        assertThat(error(0, 4)).isEqualTo(FlashController.PGPERR);
        assertThat(error(0x0f, 2)).isEqualTo(FlashController.PGAERR);
        assertThat(flash).containsOnly(-1);
    }

    @Test
    void protectedSectorsAreNeitherErasedNorProgrammed() {
        controller = with(Faults.of(new Fault.ProtectedSector(1)));
        unlock();
        set(0x10, ERASE_ALL);
        assertThat(get(0x0c)).isEqualTo(FlashController.WRPERR);
        assertThat(flash[0]).isZero();
        set(0x0c, -1);
        set(0x10, PROGRAM_HALF_WORDS);
        assertThat(error(0x4000, 2)).isEqualTo(FlashController.WRPERR);
        assertThat(error(0x8000, 2)).isZero();
    }

    @Test
    void optionBytesLiftProtection() {
        controller = with(Faults.of(new Fault.ProtectedSector(1)));
        assertThat(get(0x14)).isEqualTo(0x0ffdaaed);
        set(0x14, 0x0fffaaee);
        assertThat(get(0x14)).isEqualTo(0x0ffdaaed);
        set(0x08, 0x08192a3b);
        set(0x08, 0x4c5d6e7f);
        set(0x14, 0x0fffaaee);
        set(0x14, 0x0fffaaed);
        assertThat(get(0x14)).isEqualTo(0x0fffaaed);
        unlock();
        set(0x10, ERASE | 1 << 3);
        assertThat(get(0x0c)).isZero();
        assertThat(flash[0x4000]).isEqualTo((byte) -1);
    }

    @Test
    void injectedFaultsHitTheirByte() {
        Faults faults = Faults.parse("write-error:0x08000010, flipped-bit:0x08000021:7", "test");
        controller = with(faults);
        unlock();
        set(0x10, ERASE_ALL);
        set(0x10, PROGRAM_HALF_WORDS);
        assertThat(error(0x10, 2)).isEqualTo(FlashController.PGSERR);
        assertThat(error(0x12, 2)).isZero();
        controller.program(0x20, 2, 0x1234);
        assertThat(flash[0x20]).isEqualTo((byte) 0x34);
        assertThat(flash[0x21]).isEqualTo((byte) 0x92);
    }

    /** The flags that programming zeros sets; they are cleared by writing ones. */
    private int error(int offset, int size) {
        controller.program(offset, size, 0);
        int status = get(0x0c);
        set(0x0c, status);
        assertThat(get(0x0c)).isZero();
        return status;
    }
}
