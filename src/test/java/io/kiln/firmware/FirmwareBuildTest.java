// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FirmwareBuildTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"gnu,mps2-an386", "host,host"})
    void anImageIsLinkedAndMeasured(String toolchain, String board) {
        Image image = TestFirmware.build(TestFirmware.request(board, toolchain, folder), folder, Log.QUIET);

        Measurement measured = image.measurement();
        assertThat(measured.ram().workspace()).isEqualTo(256);
        assertThat(measured.ram().io()).isEqualTo(32);
        assertThat(measured.flash().constants()).isGreaterThanOrEqualTo(1000);
    }
}
