// SPDX-License-Identifier: Apache-2.0
/** A farm's broker in this process: Apache Artemis with Kiln's queues and limits. */
package io.kiln.farm.broker;
