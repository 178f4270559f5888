// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.farm.link.FarmAddress;
import java.time.Duration;

/**
 * A farm that runs images in place of this computer.
 *
 * @param address its broker
 * @param patience longest time without any result
 */
public record FarmUse(FarmAddress address, Duration patience) {}
