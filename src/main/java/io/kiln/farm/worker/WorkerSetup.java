// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.farm.desk.Labels;
import io.kiln.farm.lease.BoardLeases;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmMember;
import java.util.List;

/**
 * The settings of a worker.
 *
 * @param address the farm
 * @param identity who it is
 * @param offers what it offers
 * @param slots how many emulators run at once, 1 or more
 * @param leases of this computer's boards
 */
public record WorkerSetup(FarmAddress address, Identity identity, List<Offer> offers, int slots, BoardLeases leases) {
    public WorkerSetup {
        offers = List.copyOf(offers);
    }

    /**
     * Who a worker is.
     *
     * @param name unique in the farm
     * @param version of its Kiln
     * @param labels by which jobs choose it
     */
    public record Identity(String name, String version, Labels labels) {
        /** The name as the broker knows it. */
        public Identity {
            name = FarmMember.plain(name);
        }

        /** A part of the worker as the broker knows it. */
        FarmMember member(String slot) {
            return new FarmMember(version, name, slot);
        }
    }

    String name() {
        return identity.name();
    }
}
