// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.projectapi;

import java.time.Duration;

/**
 * How long a server may take; after that it is killed.
 *
 * @param answer for questions and the transport, beside the time that the method itself is given
 * @param work for generating, building and flashing
 */
public record ServerLimits(Duration answer, Duration work) {
    /** The limits for real servers: they import many modules when they start, and build whole operating systems. */
    public static final ServerLimits DEFAULT = new ServerLimits(Duration.ofMinutes(1), Duration.ofMinutes(30));
}
