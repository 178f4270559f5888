// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.link.FarmQueues;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.Set;
import org.apache.activemq.artemis.core.security.CheckType;
import org.apache.activemq.artemis.core.security.Role;
import org.apache.activemq.artemis.spi.core.security.ActiveMQSecurityManager;

/**
 * Access control of the broker. There are two accounts: the members', and that of this process, whose name and password are random. Neither may make
 * queues or manage the broker. Members may send to the farm's queues, but for that of dead jobs, and receive jobs and answers; what others tell
 * the farm is for this process. If the farm has no password, TLS has let in only members whose certificates the broker trusts.
 *
 * @param password what members have to know
 * @param own name and password of this process
 */
record BrokerSecurity(Optional<String> password, String own) implements ActiveMQSecurityManager {
    private static final String KEEPER = "keeper";

    /** The rights on a queue. */
    static Set<Role> of(String queue) {
        boolean hasTheirs = queue.equals(FarmQueues.JOBS) || queue.equals(FarmQueues.ANSWERS);
        return Set.of(role(KEEPER, true, true, true), role("member", !queue.equals(FarmQueues.DEAD), hasTheirs, false));
    }

    private static Role role(String name, boolean sends, boolean receives, boolean browses) {
        return new Role(name, sends, receives, false, false, false, false, false, browses, false, false, false, false);
    }

    @Override
    public boolean validateUser(String user, String given) {
        if (equal(user, own)) {
            return equal(given, own);
        }
        return (equal(user, FarmLink.USER)
                        || (user != null && FarmMember.of(user).isPresent()))
                && password.map(known -> equal(given, known)).orElse(true);
    }

    @Override
    public boolean validateUserAndRole(String user, String given, Set<Role> roles, CheckType type) {
        return validateUser(user, given)
                && roles.stream()
                        .filter(role -> role.getName().equals(KEEPER) == equal(user, own))
                        .anyMatch(type::hasRole);
    }

    /** Compares two texts, for as long if they differ as if they are equal. */
    private static boolean equal(String given, String known) {
        return given != null
                && MessageDigest.isEqual(
                        given.getBytes(StandardCharsets.UTF_8), known.getBytes(StandardCharsets.UTF_8));
    }
}
