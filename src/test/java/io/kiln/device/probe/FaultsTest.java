// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FaultsTest {
    @Test
    void everyKindIsReadFromText() {
        assertThat(Faults.parse(" ", "x")).isEqualTo(Faults.none());
        assertThat(Faults.parse(
                                "wrong-tap-id:0x3ba00477, wrong-chip-id:1,write-error:0x08000100, protected-sector:11,"
                                        + "read-protected,flipped-bit:0x080fffff:7,dropped:100,silent:0,power-lost:5,slow:2",
                                "x")
                        .list())
                .containsExactly(
                        new Fault.WrongTapId(0x3ba00477),
                        new Fault.WrongChipId(1),
                        new Fault.WriteError(0x08000100),
                        new Fault.ProtectedSector(11),
                        new Fault.ReadProtected(),
                        new Fault.FlippedBit(0x080fffff, 7),
                        new Fault.ConnectionDropped(100),
                        new Fault.Silence(0),
                        new Fault.PowerLost(5),
                        new Fault.SlowProbe(Duration.ofMillis(2)));
    }

    @Test
    void allThatCannotBeReadIsSaidAtOnce() {
        assertThatThrownBy(() -> Faults.parse("slow:-1,protected-sector:12,flipped-bit:0x20000000:1,melted", "pom"))
                .isInstanceOfSatisfying(
                        KilnException.class, e -> assertThat(e.problems()).hasSize(4))
                .hasMessageContaining("'melted' is not a fault");
    }
}
