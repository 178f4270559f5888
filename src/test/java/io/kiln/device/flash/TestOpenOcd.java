// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.device.flash.OpenOcdRunner.OpenOcd;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The real OpenOCD, for tests. Where it is missing a test is skipped with the reason; in CI it fails. */
public final class TestOpenOcd {
    private TestOpenOcd() {}

    /** OpenOCD of this computer. */
    public static OpenOcd get() {
        Optional<OpenOcd> found = OpenOcd.find("openocd");
        if (found.isEmpty() && !"true".equals(System.getenv("CI"))) {
            Assumptions.abort("openocd is not installed");
        }
        return found.orElseThrow();
    }
}
