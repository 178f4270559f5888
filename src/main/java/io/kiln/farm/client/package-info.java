// SPDX-License-Identifier: Apache-2.0
/** Sends jobs to a farm and waits for their results. */
package io.kiln.farm.client;
