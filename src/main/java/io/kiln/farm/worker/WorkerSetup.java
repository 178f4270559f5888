// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import java.util.List;

/**
 * The settings of a worker.
 *
 * @param address the farm
 * @param name unique in the farm
 * @param offers what it offers
 * @param slots how many emulators run at once, 1 or more
 * @param leases of this computer's boards
 */
public record WorkerSetup(FarmAddress address, String name, List<Offer> offers, int slots, BoardLeases leases) {
    public WorkerSetup {
        offers = List.copyOf(offers);
    }
}
